"""k independent sequences from the root (Sequoia, section 2.1 and tables 1 and 2).

SpecInfer's and SpecTr's drafts have this shape. Unlike SpecInfer, equal first tokens of i.i.d. sequences stay separate
nodes: merging them would drop tries that the rule relies on.
"""

from __future__ import annotations

from functools import cached_property
from math import sqrt
from typing import Any, ClassVar, Self

from pydantic import Field, model_validator

from ..errors import ParameterError
from ..tree import Topology
from .filling import StaticBuilder, grow_shape


class KSequences(StaticBuilder):
    """`width` chains of `depth` tokens that share only the root."""

    name: ClassVar[str] = "k-sequences"
    title: ClassVar[str] = "k sequences"
    small: ClassVar[dict[str, Any]] = {"width": 2, "depth": 2}
    width: int = Field(3, ge=1, le=64, title="Sequences", description="Number of chains.")
    depth: int = Field(4, ge=1, le=64, title="Length", description="Number of tokens per chain.")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.width * self.depth > 1023:
            must = f"be at most {1023 // self.depth} with chains of {self.depth} tokens"
            raise ParameterError("k-sequences.width", must, self.width, "Reduce one of them.")
        return self

    @classmethod
    def sized(cls, nodes):
        depth = round(sqrt(nodes - 1)) + 1
        return {"width": max(1, (nodes - 1) // depth), "depth": depth}

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([self.width] + [1] * (self.depth - 1))
