"""What drafters that are made of others have in common."""

from __future__ import annotations

from ..desk import Drafting
from ..distributions import Blend

PARTS = ("model", "early-exit", "medusa", "eagle", "ngram", "retrieval")
FEATURES = ("medusa", "eagle")  # those that read the target's hidden states


class Together(Drafting):
    """Several drafters on one text."""

    def __init__(self, name: str, parts: list[Drafting], merge: bool) -> None:
        self.parts, self.merge = parts, merge
        super().__init__(name)

    @property
    def passes(self) -> int:
        return sum(part.passes for part in self.parts)

    @passes.setter
    def passes(self, value: int) -> None:
        """They are counted where they are made."""

    def expand(self, tree, nodes, sampling):
        rows = zip(*(part.expand(tree, nodes, sampling) for part in self.parts), strict=True)
        return [Blend.of(row, [part.name for part in self.parts], self.merge) for row in rows]

    def commit(self, tree, path, emitted, seen):
        for part in self.parts:
            part.commit(tree, path, emitted, seen)

    def tell(self, tokens, whose):
        return next(part for part in self.parts if part.name == whose).tell(tokens, whose)
