"""The target's first layers as draft: no second model (LayerSkip, Elhoushi et al. 2024).

Unlike a draft model it shares the target's cache: the target's pass writes all layers over the slots that the draft
filled. It is not trained for early exit, unless the target was.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..parameters import whole
from .base import Drafter
from .reading import Reading


@dataclass(frozen=True)
class EarlyExit(Drafter):
    """Rows of the target's first layers with its final norm and output head."""

    name: ClassVar[str] = "early-exit"
    title: ClassVar[str] = "Early exit"
    small: ClassVar[dict[str, Any]] = {"layers": 1}
    of_tokens: ClassVar[bool] = True
    layers: int = whole(3, 1, 128, "Layers", "Number of target layers used as draft; fewer than it has.")

    def open(self, desk):
        return Reading(self.name, desk.model(self.name, layers=self.layers))
