"""One chain of drafted tokens: speculative decoding as first published (Leviathan et al. 2023; Chen et al. 2023)."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from pydantic import Field

from ..tree import Topology
from .filling import StaticBuilder, grow_shape


class Chain(StaticBuilder):
    """A chain of `depth` tokens, each drawn after the one before."""

    name: ClassVar[str] = "chain"
    title: ClassVar[str] = "Chain"
    small: ClassVar[dict[str, Any]] = {"depth": 2}
    depth: int = Field(4, ge=1, le=64, title="Length", description="Number of drafted tokens.")

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([1] * self.depth)
