"""Heads on the target's last hidden state, without draft passes (Stern et al. 2018; Medusa: Cai et al. 2024).

Unlike a model, which reads every token it drafted, head i guesses the i-th token after the root from what the target
knew before the root was there. So all nodes of one level share one row. A row that ignores its node is still a row:
every rule stays exact. The greedy chain of such a tree is blockwise parallel decoding, in which one pass verifies the
last block and predicts the next.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from ..distributions import distributions_of
from .base import Drafter, DrafterSession


class Medusa(Drafter):
    """One row a level, from heads that were trained for the target."""

    name: ClassVar[str] = "medusa"
    title: ClassVar[str] = "Medusa heads"
    spoken: ClassVar[str] = "Medusa heads"
    reads_features: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"heads": 2}
    by_level: ClassVar[bool] = True
    heads: int = Field(
        4, ge=1, le=16, title="Heads", description="Number of levels with a head; at most the number of trained heads."
    )

    def open(self, desk):
        heads = desk.pair.drafter(self.name, heads=self.heads)
        known = desk.prompt_features
        return Heads(self.name, heads, known[-1] if len(known) else None, desk.pair.vocab_size)


class Heads(DrafterSession):
    """The heads on one text.

    Args:
        heads: a function of the feature before the root, [width], that returns logits, [levels, V].
        feature: the target's feature of the token before the root; None where the text has one token.
        vocab_size: V.
    """

    def __init__(self, name: str, heads: Any, feature: Any, vocab_size: int) -> None:
        super().__init__(name)
        self.heads, self.feature = heads, feature
        self._nothing = np.zeros(vocab_size)
        self._levels: list[np.ndarray] | None = None  # the rows of this step

    def expand(self, tree, nodes, sampling):
        if self.feature is None:
            return [self._nothing] * len(nodes)
        if self._levels is None:
            logits = self.heads(self.feature)
            self._levels = distributions_of(logits, sampling, ahead=len(logits)).every()
        depths = (tree.depths[node] for node in nodes)
        return [self._levels[depth] if depth < len(self._levels) else self._nothing for depth in depths]

    def commit(self, tree, path, emitted, seen):
        self.feature, self._levels = seen.features[-1], None
