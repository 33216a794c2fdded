"""The full k-ary tree: every node has the same number of children (Medusa's Cartesian tree; Sequoia, section 2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..parameters import whole
from ..tree import Topology
from .filling import StaticBuilder, grow_shape


@dataclass(frozen=True)
class KAry(StaticBuilder):
    """Every node has `width` children, down to `depth` levels below the root."""

    name: ClassVar[str] = "k-ary"
    title: ClassVar[str] = "k-ary"
    small: ClassVar[dict[str, Any]] = {"width": 2, "depth": 2}
    width: int = whole(2, 1, 32, "Branching", "Number of children per node.")
    depth: int = whole(3, 1, 64, "Depth", "Number of levels below the root.")

    def __post_init__(self) -> None:
        super().__post_init__()
        size = sum(self.width**level for level in range(self.depth + 1))
        if size > 1024:
            made = f"{size}" if size < 10**6 else "more than a million"
            raise ValueError(
                f"k-ary must have at most 1024 nodes; width {self.width} and depth {self.depth} make {made}. "
                "Reduce one of them."
            )

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([self.width] * self.depth)
