"""The full k-ary tree: every node has the same number of children (Medusa's Cartesian tree; Sequoia, section 2.1)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from ..errors import ParameterError
from ..tree import Topology
from .filling import StaticBuilder, grow_shape


class KAry(StaticBuilder):
    """Every node has `width` children, down to `depth` levels below the root."""

    name: ClassVar[str] = "k-ary"
    title: ClassVar[str] = "k-ary"
    small: ClassVar[dict[str, Any]] = {"width": 2, "depth": 2}
    width: int = Field(2, ge=1, le=32, title="Branching", description="Number of children per node.")
    depth: int = Field(3, ge=1, le=64, title="Depth", description="Number of levels below the root.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        size = sum(self.width**level for level in range(self.depth + 1))
        if size > 1024:
            made = f"{size}" if size < 10**6 else "more than a million"
            hint = f"Width {self.width} and depth {self.depth} make {made}. Reduce one of them."
            raise ParameterError("k-ary", "have at most 1024 nodes", hint=hint)
        return self

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([self.width] * self.depth)
