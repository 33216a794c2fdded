"""A tree builder: say here what it does, and its source.

python -m specviz tree --plugin mine.py --builder mine
python -m specviz check --plugin mine.py --builder mine --verifier sequoia   # prove it, or refute it
python -m specviz demo --plugin mine.py
"""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import specviz
from specviz.builders.filling import StaticBuilder, grow_shape
from specviz.parameters import whole


@specviz.register
@dataclass(frozen=True)
class Mine(StaticBuilder):
    """Several children of the root, each followed by a chain."""

    name, title = "mine", "Mine"
    small: ClassVar = {"width": 2, "depth": 2}  # parameters whose trees can be enumerated
    width: int = whole(2, 1, 16, "Width", "Number of children of the root.")
    depth: int = whole(4, 1, 16, "Depth", "Number of levels below the root.")

    @cached_property
    def shape(self):
        return grow_shape([self.width, *[1] * (self.depth - 1)])
