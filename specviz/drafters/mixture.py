"""Drafters that combine others: several at every node, a cascade by level, and a draft that is
itself speculated.

Each child is compared with the row that it was drawn from, so a lossless rule stays lossless.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..config.strategy import DRAFTERS, number
from ..models.base import Session
from ..sampling.distributions import Mixture, Sampling, distributions_of
from ..tree import TokenTree
from .base import LAYERS, Drafter, DrafterContext, DrafterSession, TargetOutputs

Part = Literal["model", "early-exit", "medusa", "eagle", "ngram", "retrieval"]
FEATURES = {"medusa", "eagle"}  # those that read the target's hidden states
DEPTHS = range(sys.maxsize)  # all there are


def open_parts(context: DrafterContext, names: Sequence[str], layers: int) -> list[DrafterSession]:
    """The drafters of those names, early exit with so many layers, each at work on the text."""
    sessions = []
    for name in names:
        parameters = {}
        if name == "early-exit":
            parameters = {"layers": layers}
        sessions.append(DRAFTERS[name](**parameters).open(context))
    return sessions


class MixtureSession(DrafterSession):
    """Drafters on one text, each for the nodes of some depths. A row is the `Mixture` of those of
    its depth."""

    def __init__(self, name: str, parts: dict[DrafterSession, range], merge: bool = False) -> None:
        super().__init__(name)
        self.parts = parts
        self.merge = merge

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        rows: dict[int, dict[str, np.ndarray]] = {node: {} for node in nodes}
        for part, depths in self.parts.items():
            inner = [node for node in nodes if tree.depths[node] in depths]
            if inner:
                for node, row in zip(inner, part.expand(tree, inner, sampling), strict=True):
                    rows[node][part.name] = row
        self.passes = sum(part.passes for part in self.parts)
        mixtures: list[np.ndarray] = []
        for of_node in rows.values():
            mixtures.append(Mixture.of(list(of_node.values()), list(of_node), self.merge))
        return mixtures

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        for part in self.parts:
            part.commit(tree, path, emitted, seen)

    def describe_guess(self, tree: TokenTree, node: int, drafter: str) -> JsonObject:
        named = {part.name: part for part in self.parts}
        return named[drafter].describe_guess(tree, node, drafter)


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    # Two of one kind would be two sessions with one name, and the record could not tell them apart.
    if len(set(names)) < len(names):
        raise ParameterError("several.drafters", "list each drafter once", names)
    return names


class Several(Drafter):
    """Two or more drafters that alternate at every node (SpecInfer, Miao et al. 2023, section 3).

    Without replacement they draw from one pool. Merging equal tokens, as SpecInfer does, drops
    tries that rules with ratios rely on.
    """

    name = "several"
    title = "Several drafters"
    small: ClassVar[JsonObject] = {"drafters": ("model", "early-exit")}
    drafters: Annotated[tuple[Part, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        ("model", "retrieval"),
        title="Drafters",
        description="The drafters; the first child of a node is from the first one.",
        json_schema_extra={"uniqueItems": True},
    )
    merge: bool = Field(
        False,
        title="Merge equal tokens",
        description="Merge nodes with equal tokens, as SpecInfer's system does.",
    )
    layers: int = LAYERS

    # these follow from its parameters
    blends = property(lambda self: len(self.drafters) > 1)
    merges = property(lambda self: self.merge)
    reads_features = property(lambda self: not FEATURES.isdisjoint(self.drafters))
    depends_on_depth = reads_features
    sparse = property(lambda self: self.drafters == ("retrieval",))

    def open(self, context: DrafterContext) -> DrafterSession:
        parts = open_parts(context, self.drafters, self.layers)
        return MixtureSession(self.name, dict.fromkeys(parts, DEPTHS), self.merge)


class Cascade(Drafter):
    """`first` for `at` levels, a cheaper drafter `then` below them (CS Drafting, Chen et al. 2023:
    horizontal)."""

    name = "cascade"
    title = "Cascade"
    title_in_sentence = "a cascade"
    small: ClassVar[JsonObject] = {"at": 1, "then": "ngram"}
    depends_on_depth = True
    first: Part = Field("model", title="First", description="The drafter of the upper levels.")
    then: Part = Field("ngram", title="Then", description="The drafter of the levels below.")
    at: int = number(2, 1, 16, "Levels of the first", "Number of levels of the first drafter.")
    layers: int = LAYERS

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.first == self.then:  # two parts would commit to one session
            raise ParameterError(
                "cascade.then", f"differ from first, {self.first!r}", hint="Choose another drafter."
            )
        return self

    reads_features = property(lambda self: not FEATURES.isdisjoint((self.first, self.then)))

    def open(self, context: DrafterContext) -> DrafterSession:
        first, then = open_parts(context, (self.first, self.then), self.layers)
        return MixtureSession(self.name, {first: DEPTHS[: self.at], then: DEPTHS[self.at :]})


class Staged(Drafter):
    """The pair's draft model, with guesses of what it will draw (Spector and Re 2023; Chen et al.
    2023: vertical).

    The draft reads, with the nodes asked for, what a cheaper drafter guesses comes next. If the
    builder then draws that token, its row is already computed and a pass is saved; no row changes.
    """

    name = "staged"
    title = "Staged draft"
    title_in_sentence = "a staged draft"
    small: ClassVar[JsonObject] = {"ahead": 2}
    guesser: Literal["ngram", "retrieval"] = Field(
        "ngram", title="Guesser", description="The drafter that predicts what the draft will draw."
    )
    ahead: int = number(
        3, 1, 16, "Ahead", "Number of tokens guessed below each node that the draft reads."
    )

    def open(self, context: DrafterContext) -> DrafterSession:
        guesser = DRAFTERS[self.guesser]().open(context)
        return StagedSession(self.name, context.draft_model(self.title), guesser, self.ahead)


class StagedSession(DrafterSession):
    """A draft that reads ahead along the guesses of another session."""

    def __init__(self, name: str, draft: Session, guesser: DrafterSession, ahead: int) -> None:
        super().__init__(name)
        self.draft = draft
        self.guesser = guesser
        self.ahead = ahead
        self._tree = TokenTree(0)  # the tree that the draft reads, new in every step
        self._rows: dict[int, np.ndarray] = {}  # by the nodes of that tree
        self._nodes: dict[tuple[int, ...], int] = {}  # path below the root -> its node there

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        # The draft reads a tree of its own, of what was asked for and what is guessed: one node a
        # path, while the builder's tree may have the same path twice.
        if not self._nodes:
            self._tree = TokenTree(tree.tokens[0], tree.start)
            self._nodes = {(): 0}
        paths = list(map(tree.path_tokens, nodes))
        places = list(map(self._add, paths))
        unread = dict.fromkeys(node for node in places if node not in self._rows)
        if unread:
            # The same pass reads what is guessed to be asked for next.
            for path, node in zip(paths, places, strict=True):
                if node in unread:
                    unread |= dict.fromkeys(self._guess(path, sampling))
            rows = distributions_of(
                self.draft.forward(self._tree, list(unread)), sampling, ahead=len(unread)
            ).all_rows()
            self._rows.update(zip(unread, rows, strict=True))
            self.passes += 1
        return [self._rows[node] for node in places]

    def _add(self, path: tuple[int, ...]) -> int:
        """The node of a path below the root, added where it is new."""
        if path not in self._nodes:
            self._nodes[path] = self._tree.add(self._add(path[:-1]), path[-1])
        return self._nodes[path]

    def _guess(self, path: tuple[int, ...], sampling: Sampling) -> list[int]:
        """The unread nodes that a chain of guesses below a path comes to."""
        guesses = []
        for _ in range(self.ahead):
            # One token at a time, the most probable: it only has to hit what the builder then
            # draws.
            (row,) = self.guesser.expand(self._tree, [self._add(path)], sampling)
            if not row.any():
                break
            path = (*path, int(row.argmax()))
            if self._add(path) not in self._rows:
                guesses.append(self._add(path))
        return guesses

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        self.guesser.commit(tree, path, emitted, seen)
        if self._nodes:
            # The accepted path in the draft's own tree, as far as it was read there.
            tokens: tuple[int, ...] = ()
            accepted = []
            for node in path:
                tokens = (*tokens, tree.tokens[node])
                # The draft may have read a beginning of the path only.
                if tokens in self._nodes:
                    accepted.append(self._nodes[tokens])
            path = accepted
            tree = self._tree
        self.draft.commit(tree, path, emitted)
        self._rows = {}
        self._nodes = {}
