"""Logits of a draft that knows some of the target's tokens; its rows are computed over those."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import DTypeLike
from torch import Tensor

from ...passes.device_logits import DeviceLogits
from ...sampling.distributions import (
    Distributions,
    Index,
    RowWithTopTokens,
    Sampling,
    distributions_of,
)


class DraftLogits:
    """Logits over the target's vocabulary, -inf but for the draft's tokens.

    Args:
        values: of the draft's tokens, float32 [n, tokens], perhaps on a device.
        ids: the target's id of each, rising, [tokens].
        width: V, the size of the target's vocabulary.
    """

    def __init__(self, values: np.ndarray | DeviceLogits, ids: np.ndarray, width: int) -> None:
        self.values = values
        self.ids = ids
        self.shape = (len(values), width)
        self.dtype = values.dtype

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, index: Index) -> np.ndarray:
        """The logits of one node, [V], or of what else numpy takes for an index."""
        values = self.values[index]
        whole = np.full((*values.shape[:-1], self.shape[1]), -np.inf, self.dtype)
        whole[..., self.ids] = values
        return whole

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> np.ndarray:
        return self[:].astype(dtype or self.dtype, copy=False)

    def rows(self, sampling: Sampling, ahead: int = 1) -> DraftRows:
        """Their probability distributions."""
        return DraftRows(self, sampling, ahead)


class DraftRows(Distributions):
    """Distributions that are computed over the draft's tokens alone."""

    logits: DraftLogits

    def __init__(self, logits: DraftLogits, sampling: Sampling, ahead: int) -> None:
        super().__init__(logits, sampling)
        self._own = distributions_of(logits.values, sampling, ahead)

    def __getitem__(self, node: int) -> np.ndarray:
        if node not in self._rows:
            own = self._own[node]
            ids = self.logits.ids
            row = np.zeros(self.logits.shape[1]).view(RowWithTopTokens)
            row[ids] = own
            # Without mass they are as probable as all that the draft cannot say.
            first = ids[getattr(own, "ranked", [])].tolist()
            row.ranked = [token for token in first if row[token]]
            self._rows[node] = row
        return self._rows[node]


def on_target_vocabulary(logits: Tensor, ids: Tensor, width: int, lazy: bool) -> DraftLogits:
    """Logits of the draft's tokens, [n, tokens], as logits over the target's vocabulary.

    Args:
        logits: of the draft's tokens.
        ids: the target's id of each, [tokens].
        width: V, the size of the target's vocabulary.
        lazy: whether they stay on their device.
    """
    values = DeviceLogits(logits) if lazy else logits.float().cpu().numpy()
    return DraftLogits(values, on_host(ids), width)


@lru_cache
def on_host(ids: Tensor) -> np.ndarray:
    """The ids of a draft's tokens, which are asked for in every pass."""
    return ids.cpu().numpy()
