"""One drafter for the upper levels, a cheaper one for the deeper ones (CS Drafting, Chen et al. 2023: horizontal).

A token deep in the tree is rarely reached, so a cheap drafter costs little acceptance there. Every node keeps
the row it was drawn from, so rules need not know.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from ..distributions import Blend
from ..errors import ParameterError
from .base import Drafter
from .together import FEATURES, LAYERS, Part, Together, open_parts


class Cascade(Drafter):
    """`first` for `at` levels, `then` below them."""

    name: ClassVar[str] = "cascade"
    title: ClassVar[str] = "Cascade"
    spoken: ClassVar[str] = "a cascade"
    small: ClassVar[dict[str, Any]] = {"at": 1, "then": "ngram"}
    by_level: ClassVar[bool] = True
    first: Part = Field("model", title="First", description="The drafter of the upper levels.")
    then: Part = Field("ngram", title="Then", description="The drafter of the levels below.")
    at: int = Field(2, ge=1, le=16, title="Levels of the first", description="Number of levels of the first drafter.")

    layers: int = Field(3, ge=1, le=128, title="Layers", description=LAYERS)

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.first == self.then:  # two parts would commit to one session
            raise ParameterError("cascade.then", f"differ from first, {self.first!r}", hint="Choose another drafter.")
        return self

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
