"""The pair's own small draft model: one pass a level (Leviathan et al. 2023; Chen et al. 2023)."""

from __future__ import annotations

from typing import ClassVar

from .base import Drafter
from .reading import Reading


class Model(Drafter):
    """Rows of the draft that was loaded with the target."""

    name: ClassVar[str] = "model"
    title: ClassVar[str] = "Draft model"
    spoken: ClassVar[str] = "the draft model"
    of_tokens: ClassVar[bool] = True

    def open(self, desk):
        if desk.draft is None:
            raise ValueError(
                "Draft model needs a pair with a draft; this pair has none. "
                "Load one, or choose another drafter, or prompt-lookup."
            )
        return Reading(self.name, desk.draft)
