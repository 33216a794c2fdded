"""Logits on the host, and their probability distributions in one compiled call."""

from __future__ import annotations

import numpy as np

from ...distributions import Distributions, Sampling, check_finite
from .numbers import exact, exp64, fast, row_max


@exact
def _count_nan(row):
    """How many are NaN."""
    count = 0
    for i in range(len(row)):
        count += row[i] != row[i]
    return count


@fast
def _total(row):
    total = 0.0
    for i in range(len(row)):
        total += row[i]
    return total


@exact
def _softmax(logits, scale, out):
    """Probabilities of float32 logits [n, V] times `scale` in float64; a number that is finite if all logits were."""
    sums = 0.0
    for row in range(len(logits)):
        if _count_nan(logits[row]):
            return np.nan
        top = np.float64(row_max(logits[row]))
        for i in range(out.shape[1]):
            out[row, i] = exp64((logits[row, i] - top) * scale)
        total = _total(out[row])
        for i in range(out.shape[1]):
            out[row, i] *= 1 / total
        sums += total + top
    return sums


class HostLogits(np.ndarray):
    """Logits of one pass, float32 [n, V]."""

    def rows(self, sampling: Sampling, ahead: int = 1) -> Distributions:
        """Their probability distributions."""
        return (
            HostRows(self, sampling)
            if sampling.unfiltered and sampling.temperature > 0
            else Distributions(self, sampling)
        )


class HostRows(Distributions):
    """Probability distributions of logits on the host at a temperature above 0, without top-k and top-p."""

    def __getitem__(self, node: int) -> np.ndarray:
        if node not in self._rows:
            (self._rows[node],) = self._softmax(node, node + 1)
        return self._rows[node]

    def every(self) -> list[np.ndarray]:
        return list(self._softmax(0, len(self)))

    def _softmax(self, first: int, end: int) -> np.ndarray:
        rows = np.empty((end - first, self.logits.shape[1]))
        check_finite(_softmax(np.asarray(self.logits[first:end]), 1 / self.sampling.temperature, rows))
        return rows
