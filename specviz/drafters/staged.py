"""Speculate the draft itself with a cheaper drafter (Spector and Re 2023; vertical cascade, Chen et al. 2023).

Unlike a cascade it changes no row: the draft reads, beside the nodes asked for, what the cheaper drafter thinks comes
next. If the builder then draws that token, its distribution is already computed and a pass is saved. To the draft this
is tree speculative decoding by target match, whose output has exactly the draft's distribution, since a token is drawn
from the draft's row before it is compared with the guess.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ..distributions import distributions_of
from ..models.base import Session
from ..strategy import DRAFTERS
from ..tree import TokenTree
from .base import Drafter, DrafterSession


class Staged(Drafter):
    """The pair's draft model, with guesses of what it will draw."""

    name: ClassVar[str] = "staged"
    title: ClassVar[str] = "Staged draft"
    spoken: ClassVar[str] = "a staged draft"
    small: ClassVar[dict[str, Any]] = {"ahead": 2}
    guesser: Literal["ngram", "retrieval"] = Field(
        "ngram", title="Guesser", description="The drafter that predicts what the draft will draw."
    )
    ahead: int = Field(
        3, ge=1, le=16, title="Ahead", description="Number of tokens guessed below each node that the draft reads."
    )

    def open(self, desk):
        if desk.draft is None:
            raise ValueError(
                "Staged draft needs a pair with a draft; this pair has none. Load one, or choose another drafter."
            )
        return Guessing(self.name, desk.draft, DRAFTERS[self.guesser]().open(desk), self.ahead)


class Guessing(DrafterSession):
    """A draft that reads ahead along guesses.

    Args:
        draft: the draft model's session; it reads a tree of its own, with the guesses in it.
        guesser: the cheaper drafter.
        ahead: tokens guessed below each node.
    """

    def __init__(self, name: str, draft: Session, guesser: DrafterSession, ahead: int) -> None:
        super().__init__(name)
        self.draft, self.guesser, self.ahead = draft, guesser, ahead
        self._shadow = TokenTree(0)  # the tree that the draft reads; begun with the step
        self._rows: dict[int, np.ndarray] = {}  # by the nodes of the tree that the draft reads
        self._place: dict[tuple[int, ...], int] = {}  # path below the root -> its node in that tree

    def expand(self, tree, nodes, sampling):
        if not self._place:
            self._shadow, self._place = TokenTree(tree.tokens[0], tree.start), {(): 0}
        paths = [tuple(tree.tokens[step] for step in tree.topology.path(node)) for node in nodes]
        places = [self._add(path) for path in paths]
        wanted = [place for place in dict.fromkeys(places) if place not in self._rows]
        if wanted:
            for path, place in zip(paths, places, strict=True):
                if place in wanted:
                    wanted += [spot for spot in self._guess(path, sampling) if spot not in wanted]
            rows = distributions_of(self.draft.forward(self._shadow, wanted), sampling, ahead=len(wanted)).every()
            self._rows.update(zip(wanted, rows, strict=True))
            self.passes += 1
        return [self._rows[place] for place in places]

    def _add(self, path: tuple[int, ...]) -> int:
        if path not in self._place:
            self._place[path] = self._shadow.add(self._add(path[:-1]), path[-1])
        return self._place[path]

    def _guess(self, path: tuple[int, ...], sampling: Any) -> list[int]:
        """Nodes of the draft's tree for what most likely follows a path, those not read yet."""
        found = []
        for _ in range(self.ahead):
            place = self._add(path)
            (row,) = self.guesser.expand(self._shadow, [place], sampling)
            if not row.any():
                break
            path = (*path, int(row.argmax()))
            if self._add(path) not in self._rows:
                found.append(self._add(path))
        return found

    def commit(self, tree, path, emitted, seen):
        if self._place:
            tokens = [tree.tokens[node] for node in path]
            along = [tuple(tokens[: i + 1]) for i in range(len(tokens))]
            kept = [self._place[step] for step in along if step in self._place]
            self.draft.commit(self._shadow, kept, emitted)
        else:
            self.draft.commit(tree, path, emitted)
        self.guesser.commit(tree, path, emitted, seen)
        self._rows, self._place = {}, {}
