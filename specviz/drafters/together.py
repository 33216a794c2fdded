"""Shared code of drafters that combine others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..distributions import Blend
from ..strategy import DRAFTERS
from .base import DrafterContext, DrafterSession

Part = Literal["model", "early-exit", "medusa", "eagle", "ngram", "retrieval"]
FEATURES = ("medusa", "eagle")  # those that read the target's hidden states
LAYERS = "Number of target layers used by early exit, if it is chosen; fewer than the target has."


def open_parts(desk: DrafterContext, names: Sequence[str], layers: int) -> list[DrafterSession]:
    """The drafters of those names, early exit with so many layers, each at work on the text."""
    return [DRAFTERS[name](**({"layers": layers} if name == "early-exit" else {})).open(desk) for name in names]


class Together(DrafterSession):
    """Several drafters on one text."""

    def __init__(self, name: str, parts: list[DrafterSession], merge: bool) -> None:
        self.parts, self.merge = parts, merge
        super().__init__(name)

    @property
    def passes(self) -> int:
        """Passes of all of its drafters."""
        return sum(part.passes for part in self.parts)

    @passes.setter
    def passes(self, value: int) -> None:
        """The passes are counted by the parts."""

    def expand(self, tree, nodes, sampling):
        rows = zip(*(part.expand(tree, nodes, sampling) for part in self.parts), strict=True)
        return [Blend.of(row, [part.name for part in self.parts], self.merge) for row in rows]

    def commit(self, tree, path, emitted, seen):
        for part in self.parts:
            part.commit(tree, path, emitted, seen)

    @property
    def describes(self) -> bool:
        """Whether one of its drafters has anything to tell about a guess."""
        return any(part.describes for part in self.parts)

    def describe_guess(self, tokens, whose):
        return next(part for part in self.parts if part.name == whose).describe_guess(tokens, whose)
