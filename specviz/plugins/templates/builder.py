"""A tree builder: say here what it does, and its source.

python -m specviz tree --plugin mine.py --builder mine
python -m specviz check --plugin mine.py --builder mine --verifier sequoia   # prove it, or refute it
python -m specviz demo --plugin mine.py
"""

from functools import cached_property
from typing import ClassVar

from pydantic import Field

import specviz
from specviz.builders.filling import StaticBuilder, grow_shape


@specviz.register
class Mine(StaticBuilder):
    """Several children of the root, each followed by a chain."""

    name, title = "mine", "Mine"
    small: ClassVar = {"width": 2, "depth": 2}  # parameters whose trees can be enumerated
    width: int = Field(2, ge=1, le=16, title="Width", description="Number of children of the root.")
    depth: int = Field(4, ge=1, le=16, title="Depth", description="Number of levels below the root.")

    @cached_property
    def shape(self):
        return grow_shape([self.width, *[1] * (self.depth - 1)])
