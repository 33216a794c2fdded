"""EAGLE-2's tree: expand the most likely nodes level by level, then keep the best of all (Li et al. 2024, section 4).

Unlike DySpec it re-ranks tokens after they are known, and a drawn token may not be dropped because of its value. So its
children are the draft's most probable tokens instead of draws, and only rules that never compare with q keep it
lossless. A node counts the product of q along its path, which falls from parent to child: what is kept is a tree.
With `h` the draft stops at high entropy, as SVIP's authors tried it on EAGLE-2 (Zhang et al. 2024, section 3.3): after
every second level the entropy H of the best node's row is looked at, and nothing is drafted below where sqrt(H) > h.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from ..distributions import entropy
from .reranking import Reranked


class Eagle2(Reranked):
    """The best `size` - 1 of all candidates found by expanding the `width` best nodes of every level."""

    name: ClassVar[str] = "eagle2"
    title: ClassVar[str] = "EAGLE-2"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 2, "width": 2}
    h: float = Field(
        0.0,
        ge=0.0,
        le=3.0,
        title="Stop at entropy h",
        description="Every two levels, stop if sqrt(entropy) is above it; 0 never stops.",
    )

    def _certain(self, depth, row):
        return not (self.h and depth and depth % 2 == 0) or math.sqrt(entropy(row)) <= self.h
