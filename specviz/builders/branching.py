"""A separate branching factor at every level, (k1, k2, ..., kt): SpecInfer's expansion (Miao et al. 2023, section 3).

Unlike the k-ary tree it may be wide near the root, where a rejection costs most, and narrow below.
"""

from __future__ import annotations

from functools import cached_property
from itertools import accumulate
from operator import mul
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, model_validator

from ..errors import ParameterError
from ..tree import Topology
from .filling import StaticBuilder, grow_shape


class Branching(StaticBuilder):
    """Every node of level i has `widths[i]` children."""

    name: ClassVar[str] = "branching"
    title: ClassVar[str] = "Branching"
    small: ClassVar[dict[str, Any]] = {"widths": (2, 1)}
    widths: tuple[Annotated[int, Field(ge=1, le=64)], ...] = Field(
        (3, 2, 1, 1),
        min_length=1,
        title="Children per level",
        description="How many children the nodes of each level have.",
    )

    @model_validator(mode="after")
    def _check(self) -> Self:
        if sum(accumulate(self.widths, mul)) > 1023:
            hint = "Reduce some of them or use fewer levels."
            raise ParameterError("branching.widths", "give at most 1024 nodes", self.widths, hint)
        return self

    @cached_property
    def shape(self) -> Topology:
        return grow_shape(self.widths)
