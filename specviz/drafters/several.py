"""Several drafters for one tree (SpecInfer, Miao et al. 2023, section 3).

The children of a node come from the drafters in turn, and each child is compared with the row that it was drawn from:
the drafter of a child is chosen before anything is drawn, so a lossless rule stays lossless. Without replacement
they draw from one pool, which takes what was drawn out of every row. SpecInfer merges equal tokens of two drafters into
one node; that drops tries that rules with ratios rely on.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from ..errors import ParameterError
from .base import Drafter
from .together import FEATURES, LAYERS, Part, Together, open_parts


def _distinct(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise ParameterError("several.drafters", "list each drafter once", names)
    return names


class Several(Drafter):
    """Two or more drafters that alternate at every node."""

    name: ClassVar[str] = "several"
    title: ClassVar[str] = "Several drafters"
    small: ClassVar[dict[str, Any]] = {"drafters": ("model", "early-exit")}
    drafters: Annotated[tuple[Part, ...], Field(min_length=1), AfterValidator(_distinct)] = Field(
        ("model", "retrieval"),
        title="Drafters",
        description="The drafters; the first child of a node is from the first one.",
        json_schema_extra={"uniqueItems": True},
    )
    merge: bool = Field(
        False, title="Merge equal tokens", description="Merge nodes with equal tokens, as SpecInfer's system does."
    )

    layers: int = Field(3, ge=1, le=128, title="Layers", description=LAYERS)

    @property
    def blends(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether there is more than one row at a node."""
        return len(self.drafters) > 1

    @property
    def merges(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether equal tokens are merged."""
        return self.merge

    @property
    def reads_features(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether one of its drafters does."""
        return not set(FEATURES).isdisjoint(self.drafters)

    @property
    def by_level(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether one of its drafters depends on the level."""
        return self.reads_features

    @property
    def sparse(self) -> bool:  # type: ignore[override]  # follows from its parameters
        """Whether it has no drafter but the retrieval."""
        return self.drafters == ("retrieval",)

    def open(self, desk):
        return Together(self.name, open_parts(desk, self.drafters, self.layers), self.merge)
