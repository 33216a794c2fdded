"""The target without some of its layers as draft: no second model (Draft & Verify, Zhang et al. 2023).

Unlike early exit it can keep the last layers. What it computes behind a skipped layer is not what the target computes
there, so it has keys and values of its own. Whole layers are skipped; the paper skips attention and feed-forward parts
one by one, and searches for the best.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from .base import Drafter
from .reading import Reading


class LayerSkip(Drafter):
    """Rows of the target without the layers that are named, with its final norm and output head."""

    name: ClassVar[str] = "layer-skip"
    title: ClassVar[str] = "Skipped layers"
    spoken: ClassVar[str] = "the target without some layers"
    small: ClassVar[dict[str, Any]] = {"skip": (2,)}
    of_tokens: ClassVar[bool] = True
    skip: tuple[Annotated[int, Field(ge=2, le=128)], ...] = Field(
        (3, 6, 7),
        min_length=1,
        title="Skipped layers",
        description="Target layers that the draft skips, counted from 1.",
    )

    def open(self, desk):
        return Reading(self.name, desk.model(self.name, skip=self.skip))
