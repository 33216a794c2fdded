"""The target's first layers as draft: no second model (LayerSkip, Elhoushi et al. 2024).

Unlike a draft model it shares the target's cache: the target's pass writes all layers over the slots that the draft
filled. It is not trained for early exit, unless the target was.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from .base import Drafter
from .reading import Reading


class EarlyExit(Drafter):
    """Rows of the target's first layers with its final norm and output head."""

    name: ClassVar[str] = "early-exit"
    title: ClassVar[str] = "Early exit"
    small: ClassVar[dict[str, Any]] = {"layers": 1}
    of_tokens: ClassVar[bool] = True
    layers: int = Field(
        3, ge=1, le=128, title="Layers", description="Number of target layers used as draft; fewer than it has."
    )

    def open(self, desk):
        return Reading(self.name, desk.model(self.name, layers=self.layers))
