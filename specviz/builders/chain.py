"""One chain of drafted tokens: speculative decoding as first published (Leviathan et al. 2023; Chen et al. 2023)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..parameters import whole
from ..tree import Topology
from .filling import StaticBuilder, grow_shape


@dataclass(frozen=True)
class Chain(StaticBuilder):
    """A chain of `depth` tokens, each drawn after the one before."""

    name: ClassVar[str] = "chain"
    title: ClassVar[str] = "Chain"
    small: ClassVar[dict[str, Any]] = {"depth": 2}
    depth: int = whole(4, 1, 64, "Length", "Number of drafted tokens.")

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([1] * self.depth)
