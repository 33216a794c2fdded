"""Children of the root only: the widest tree, one draft pass (the "batch" of Kobus and Gündüz 2025, section 2).

Unlike deeper trees it writes at most two tokens per pass, the accepted child and the bonus.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from pydantic import Field

from ..tree import Topology
from .filling import StaticBuilder, grow_shape


class Batch(StaticBuilder):
    """`width` alternatives for the next token."""

    name: ClassVar[str] = "batch"
    title: ClassVar[str] = "Batch"
    small: ClassVar[dict[str, Any]] = {"width": 2}
    width: int = Field(
        8, ge=1, le=256, title="Children", description="Number of drafted alternatives for the next token."
    )

    @classmethod
    def sized(cls, nodes):
        return {"width": nodes - 1}

    @cached_property
    def shape(self) -> Topology:
        return grow_shape([self.width])
