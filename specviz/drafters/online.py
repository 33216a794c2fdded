"""Train the draft during a run: online distillation (OSD, Liu et al. 2023).

Every few steps a copy of the draft takes one optimizer step towards the target's latest rows. A row is compared before
anything is learnt of it, so every rule stays exact.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from .base import Drafter
from .models import ModelSession


class Online(Drafter):
    """Distributions of a copy of the pair's draft that is trained on the target's distributions."""

    name, title = "online", "Learning draft"
    spoken = "a learning draft"
    small: ClassVar[dict[str, Any]] = {"every": 1}
    every: int = Field(4, ge=1, le=64, title="Learn every", description="Number of decoding steps per optimizer step.")
    rate: float = Field(
        3e-4, ge=0.0, le=0.1, title="Learning rate", description="Learning rate of the optimizer; 0 turns learning off."
    )
    last: int = Field(
        128, ge=1, le=1024, title="Learn from", description="Maximum number of the target's latest distributions used."
    )

    def open(self, context):
        return Learning(self.name, context.model(self.name, rate=self.rate), self.every, self.last)


class Learning(ModelSession):
    """A draft on one text whose session has `learn(rows, temperature)`, see `models.learning`."""

    def __init__(self, name: str, session: Any, every: int, last: int) -> None:
        super().__init__(name, session)
        self.every, self.last = every, last
        self.temperature = 1.0  # of the rows it was asked for
        self._rows: list[np.ndarray] = []  # the target's, after the last tokens of the text but its very last
        self._steps = 0

    def expand(self, tree, nodes, sampling):
        self.temperature = sampling.temperature or 1.0
        return super().expand(tree, nodes, sampling)

    def commit(self, tree, path, emitted, seen):
        super().commit(tree, path, emitted, seen)
        new = [seen.rows[node].astype(np.float32) for node in seen.nodes[: len(emitted)]]
        self._rows = [*self._rows, *new][-self.last :]
        self._steps += 1
        if self._steps % self.every == 0:
            self.session.learn(np.array(self._rows), self.temperature)
