"""Randomness: the operations that builders and verifiers may use.

`flip` and `draw` take fresh numbers; a test answers them itself and so enumerates every outcome.
`noise` is keyed by the position in the text, which makes a text that is argmin E/p independent of
the draft.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Protocol

import numpy as np

BLOCK = 64  # a large vocabulary is searched block by block


class Randomness(Protocol):
    """The random operations of builders and verifiers."""

    def flip(self, prob: float) -> tuple[bool, float]:
        """True with probability `prob`, and the uniform draw u in [0, 1) that was compared with
        it."""

    def draw(self, probs: np.ndarray) -> int:
        """A token drawn from `probs`, [V], non-negative weights that need not sum to one."""

    def noise(self, position: int, size: int) -> np.ndarray:
        """Independent Exp(1) numbers for one absolute position of the text, float64 [size]."""


class Seeded(Randomness):
    """Randomness from a `seed`: a stream for `flip` and `draw`, and a keyed generator for
    `noise`."""

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)
        # Two streams of one seed: `noise` must not depend on how many numbers were drawn before.
        self._stream = np.random.default_rng([self.seed, 0])

    def flip(self, prob: float) -> tuple[bool, float]:
        # "<" and not "<=": u is below 1, so a chance of 1 always and one of 0 never comes true.
        coin = float(self._stream.random())
        return coin < prob, coin

    def draw(self, probs: np.ndarray) -> int:
        # The inverse of the cumulative distribution, in two steps as a vocabulary is large: first
        # the block on which the number falls, then the token within it.
        ends = np.add.reduceat(probs, _block_starts(len(probs))).cumsum()
        if not 0 < ends[-1] < math.inf:
            raise ValueError(
                f"probabilities must be finite and not all 0; they sum to {ends[-1]}. Either a "
                "model overflowed, then load it with dtype float32, or a plugin draws from others."
            )
        mark = self._stream.random() * float(ends[-1])
        block = _search(ends, mark)
        before = 0.0
        if block:
            before = float(ends[block - 1])
        start = BLOCK * block
        within = probs[start : start + BLOCK].cumsum()
        return start + _search(within, mark - before)

    def noise(self, position: int, size: int) -> np.ndarray:
        return _noise(self.seed, int(position), size)


@lru_cache(maxsize=64)  # draft and target ask for the same positions
def _noise(seed: int, position: int, size: int) -> np.ndarray:
    # A generator of its own for each position, so that draft and target get the same numbers.
    noise = np.random.default_rng([seed, 1, position]).exponential(size=size)
    noise.flags.writeable = False
    return noise


@lru_cache(maxsize=8)
def _block_starts(size: int) -> np.ndarray:
    return np.arange(0, size, BLOCK)


def _search(ends: np.ndarray, mark: float) -> int:
    """Where `mark` falls on weights laid end to end, given where each of them ends; never on a
    weight of zero."""
    place = int(ends.searchsorted(mark, side="right"))
    if place < len(ends):
        return place
    return int(ends.searchsorted(ends[-1]))  # rounding carried it past the end


def first_arrivals(probs: np.ndarray, noise: np.ndarray, count: int = 1) -> np.ndarray:
    """The tokens of positive probability that win the race E / probs, in order of arrival, int [<=
    count]."""
    # A token of probability 0 never arrives; dividing by it would give infinity, or nan.
    arrival = np.divide(noise, probs, out=np.full(len(probs), np.inf), where=probs > 0)
    first = argsmallest(arrival, count)
    return first[probs[first] > 0]


def argsmallest(values: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` smallest values, smallest first, ties by the lower index, int [<=
    count]."""
    if count == 1:
        return np.array([values.argmin()])
    # Where few of many are asked for, a partition is faster than sorting all. "<=" keeps every tie
    # with the last of them, so that the lower index wins whatever the partition's order.
    near = np.arange(len(values))
    if 0 < 2 * count < len(values):
        near = np.flatnonzero(values <= np.partition(values, count - 1)[count - 1])
    return near[np.argsort(values[near], kind="stable")[:count]]
