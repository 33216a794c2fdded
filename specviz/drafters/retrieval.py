"""Retrieval: continuations of the last tokens in a library of texts (REST, He et al. 2023; suffix decoding, 2024).

Unlike n-grams it goes back as far as it can: the longest end of the text that occurs anywhere, found in a suffix array.
The row is what was counted there and nothing else: no smoothing, so no child is drawn that was never seen, and where
nothing is found the tree ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from ..distributions import probabilities
from ..errors import ParameterError
from .base import Drafter, DrafterSession
from .library import Library, library

MOST = 20_000  # occurrences that are counted of a sequence: of more, evenly spread ones


class Retrieval(Drafter):
    """The counted continuations of the longest end of the text that is found."""

    name: ClassVar[str] = "retrieval"
    title: ClassVar[str] = "Retrieval"
    sparse: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"shortest": 1}
    longest: int = Field(16, ge=1, le=16, title="Max match", description="Maximum number of last tokens to match.")
    shortest: int = Field(2, ge=1, le=16, title="Min match", description="Shorter matches are ignored.")
    code: bool = Field(
        True, title="Standard library", description="Also search this machine's Python standard library."
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.shortest > self.longest:
            raise ParameterError(
                "retrieval.shortest", f"be at most longest, {self.longest}", self.shortest, "Reduce it."
            )
        return self

    def open(self, desk):
        stored = library(desk.pair, self.code)
        return LookingUp(self.name, stored, self.longest, self.shortest, desk.context, desk.pair.vocab_size)


@dataclass(frozen=True)
class Match:
    """What followed a match.

    Args:
        length: tokens that matched; 0 where nothing was found.
        tokens: what followed each occurrence, [m].
        places: where in the library each of them stands, -1 for the text so far, [m].
        share: occurrences that each of them stands for.
    """

    length: int
    tokens: np.ndarray
    places: np.ndarray
    share: float = 1.0


class LookingUp(DrafterSession):
    """Retrieval for one text."""

    def __init__(
        self, name: str, stored: Library, longest: int, shortest: int, context: Sequence[int], vocab_size: int
    ) -> None:
        super().__init__(name)
        self.stored, self.longest, self.shortest = stored, longest, shortest
        self.context, self.vocab_size = list(context), vocab_size
        self._matches: dict[tuple[int, ...], Match] = {}  # of this step, by the path below the root

    def look_up(self, path: tuple[int, ...]) -> Match:
        """What followed the longest end of the text and `path` that occurs, in the library or earlier in the text."""
        if path not in self._matches:
            text = [*self.context, *path]
            length, first, last = self.stored.index.longest(text, self.longest)
            own_length, own = earlier(text, self.longest)
            best = max(length, own_length)
            if best < self.shortest:
                self._matches[path] = Match(0, np.zeros(0, int), np.zeros(0, int))
            else:
                places, tokens, share = np.zeros(0, int), np.zeros(0, int), 1.0
                if length == best:
                    share = max(1.0, (last - first) / MOST)
                    step = int(np.ceil(share))
                    places, tokens = self.stored.index.following(length, first, last)
                    places, tokens = places[::step] + length, tokens[::step]
                    share = float(step)
                mine = own if own_length == best else []
                tokens = np.concatenate([tokens, np.array(mine, dtype=int)])
                places = np.concatenate([places, np.full(len(mine), -1)])
                self._matches[path] = Match(best, tokens, places, share)
        return self._matches[path]

    def expand(self, tree, nodes, sampling):
        rows = []
        for node in nodes:
            match = self.look_up(tuple(tree.tokens[step] for step in tree.topology.path(node)))
            counts = np.bincount(match.tokens, minlength=self.vocab_size).astype(float)
            if counts.any():
                with np.errstate(divide="ignore"):
                    rows.append(probabilities(np.log(counts), sampling))
            else:
                rows.append(counts)
        return rows

    def commit(self, tree, path, emitted, seen):
        self.context.extend(emitted)
        self._matches.clear()

    def describe_guess(self, tokens, whose) -> dict[str, Any]:
        match = self.look_up(tuple(tokens[:-1]))
        places = match.places[match.tokens == tokens[-1]]
        if not len(places):
            return {"match": match.length, "seen": 0}
        guess = {"match": match.length, "seen": round(len(places) * match.share)}
        in_library = places[places >= 0]
        if not len(in_library):
            return guess | {"where": "this text"}
        name, line = self.stored.where(int(in_library[0]))
        return guess | {"where": name, "line": line}


def earlier(text: Sequence[int], most: int) -> tuple[int, list[int]]:
    """The longest end of a text that occurs earlier in it: its length, and the tokens that followed, oldest first."""
    tokens = np.asarray(text)
    ends = np.flatnonzero(tokens[:-1] == tokens[-1]) + 1  # one past every earlier copy of the last token
    length, kept = 0, ends
    while len(kept) and length < min(most, len(tokens) - 1):
        length, ends = length + 1, kept
        kept = kept[(kept > length)]
        kept = kept[tokens[kept - length - 1] == tokens[-length - 1]] if length < len(tokens) - 1 else kept[:0]
    return length, tokens[ends].tolist() if length else []
