"""One drafter for the upper levels, a cheaper one for the deeper ones (CS Drafting, Chen et al. 2023: horizontal).

A token deep in the tree is rarely reached, so a cheap drafter costs little acceptance there. Every node keeps
the row it was drawn from, so rules need not know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..distributions import Blend
from ..parameters import choice, whole
from .base import Drafter
from .together import FEATURES, LAYERS, PARTS, Together, open_parts


@dataclass(frozen=True)
class Cascade(Drafter):
    """`first` for `at` levels, `then` below them."""

    name: ClassVar[str] = "cascade"
    title: ClassVar[str] = "Cascade"
    spoken: ClassVar[str] = "a cascade"
    small: ClassVar[dict[str, Any]] = {"at": 1, "then": "ngram"}
    by_level: ClassVar[bool] = True
    first: str = choice("model", PARTS, "First", "The drafter of the upper levels.")
    then: str = choice("ngram", PARTS, "Then", "The drafter of the levels below.")
    at: int = whole(2, 1, 16, "Levels of the first", "Number of levels of the first drafter.")

    layers: int = whole(3, 1, 128, "Layers", LAYERS)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.first == self.then:  # two parts would commit to one session
            raise ValueError(f"cascade.then must differ from first, {self.first!r}. Choose another drafter.")

    @property
    def reads_features(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether one of its drafters does."""
        return not set(FEATURES).isdisjoint((self.first, self.then))

    def open(self, desk):
        return ByDepth(self.name, open_parts(desk, (self.first, self.then), self.layers), self.at)


class ByDepth(Together):
    """Two drafters on one text, of which the depth of a node decides."""

    def __init__(self, name, parts, at: int) -> None:
        super().__init__(name, parts, False)
        self.at = at

    def expand(self, tree, nodes, sampling):
        rows = {}
        for part, wanted in ((self.parts[0], True), (self.parts[1], False)):
            mine = [node for node in nodes if (tree.depths[node] < self.at) is wanted]
            if mine:
                found = part.expand(tree, mine, sampling)
                rows |= {node: Blend.of([row], [part.name]) for node, row in zip(mine, found, strict=True)}
        return [rows[node] for node in nodes]
