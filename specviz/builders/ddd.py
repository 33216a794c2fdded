"""EAGLE-2's tree with a depth that depends on the draft (Dynamic Depth Decoding: Brown et al. 2024).

Unlike `eagle2` with its entropy test it looks at a level before the draft reads it: it stops where the probabilities
of the level's paths add up to less than a threshold, as the text is then unlikely to be among them.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from .reranking import Reranked


class Ddd(Reranked):
    """EAGLE-2's candidates, level by level while the level's paths are likely enough together."""

    name: ClassVar[str] = "ddd"
    title: ClassVar[str] = "Dynamic depth"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 3, "width": 2, "mass": 0.6}
    mass: float = Field(
        0.3,
        ge=0.0,
        le=1.0,
        title="Least probability",
        description="Stop if a level's paths together are less probable.",
    )

    def _likely(self, level):
        return sum(1.0 if one is None else one.value for one in level) >= self.mass
