"""Randomness: the operations that builders and verifiers may use.

`flip` and `draw` are asked of a stream of fresh numbers; a test answers them itself and so enumerates every outcome.
`draw_apart` is several of such draws.
`noise` is keyed by the absolute position in the text and belongs to rules whose output is argmin E/p: asking twice
for the same position gives the same numbers, which is what makes a seeded text independent of the draft.
"""

from __future__ import annotations

import math
from bisect import insort
from functools import lru_cache
from typing import Protocol

import numpy as np

BLOCK = 64
FEW = 4  # values that are found one by one sooner than together
KEPT = 64  # positions whose noise is kept
LITTLE = 1e-6  # of a row's weight: where less is left, it is summed up anew, free of what rounding left of the rest


class Randomness(Protocol):
    """The random operations of builders and verifiers."""

    def flip(self, prob: float) -> tuple[bool, float]:
        """True with probability `prob`, and the uniform draw u in [0, 1) that was compared with it."""

    def draw(self, probs: np.ndarray) -> int:
        """A token drawn from `probs`, [V], non-negative weights that need not sum to one."""

    def draw_apart(self, probs: np.ndarray, count: int) -> list[int]:
        """`count` different tokens drawn one after the other from `probs`, [V]; at most V.

        Once its weights are used up, its other tokens are equally likely.
        """
        return _apart(self, probs, count, [])

    def noise(self, position: int, size: int) -> np.ndarray:
        """Independent Exp(1) numbers for one absolute position of the text, float64 [size]."""


class Seeded(Randomness):
    """Randomness from a seed: a stream for `flip` and `draw`, and a keyed generator for `noise`.

    Args:
        seed: a whole number from 0; the same seed gives the same answers.

    >>> Seeded(1).draw(np.array([0.0, 1.0, 0.0]))
    1
    """

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)
        self._stream = np.random.default_rng([self.seed, 0])
        self._noise: dict[tuple[int, int], np.ndarray] = {}  # draft and target ask for the same positions

    def flip(self, prob: float) -> tuple[bool, float]:
        coin = float(self._stream.random())
        return coin < prob, coin

    def draw(self, probs: np.ndarray) -> int:
        ends, total = _block_ends(probs)
        return _find(probs, ends, self._stream.random() * total)[0]

    def draw_apart(self, probs: np.ndarray, count: int) -> list[int]:
        # The tokens of one `draw` after the other, but what was drawn is passed over and not taken out of a copy.
        ends, total = _block_ends(probs)
        left, drawn = total, list[int]()
        gone: list[tuple[float, float]] = []  # of each token drawn: the weight before it, and its own; in order
        while len(drawn) < count and left > LITTLE * total:
            mark = self._stream.random() * left
            for before, weight in gone:
                if mark < before:
                    break
                mark += weight
            token, before = _find(probs, ends, mark)
            if token not in drawn:  # or rounding carried the mark back to it
                drawn.append(token)
                weight = float(probs[token])
                insort(gone, (before, weight))
                left -= weight
        return drawn if len(drawn) == count else _apart(self, probs, count, drawn)

    def noise(self, position: int, size: int) -> np.ndarray:
        if (position, size) not in self._noise:
            if len(self._noise) == KEPT:
                self._noise.pop(next(iter(self._noise)))
            self._noise[position, size] = np.random.default_rng([self.seed, 1, int(position)]).exponential(size=size)
            self._noise[position, size].flags.writeable = False
        return self._noise[position, size]


def _apart(rng: Randomness, probs: np.ndarray, count: int, drawn: list[int]) -> list[int]:
    """`drawn`, and further tokens up to `count`, each by a `draw` of its own."""
    rest = probs.copy()
    rest[drawn] = 0.0
    for _ in range(len(drawn), min(count, len(probs))):
        if not rest.any():
            rest[:] = 1.0
            rest[drawn] = 0.0
        drawn.append(rng.draw(rest))
        rest[drawn[-1]] = 0.0
    return drawn


def _block_ends(probs: np.ndarray) -> tuple[np.ndarray, float]:
    """The running sum of a vocabulary at the end of every block, and the whole sum."""
    ends = np.add.reduceat(probs, _block_starts(len(probs))).cumsum()
    total = float(ends[-1])
    if not 0 < total < math.inf:
        raise ValueError(
            f"probabilities must be finite and not all 0; they sum to {total}. The model overflowed: "
            "load it with dtype float32."
        )
    return ends, total


def _find(probs: np.ndarray, ends: np.ndarray, mark: float) -> tuple[int, float]:
    """The token on which `mark` falls, and the weight before it: a search for its block and one within it."""
    block = _search(ends, mark)
    first, before = block * BLOCK, float(ends[block - 1]) if block else 0.0
    inside = probs[first : first + BLOCK].cumsum()
    place = _search(inside, mark - before)
    return first + place, before + (float(inside[place - 1]) if place else 0.0)


@lru_cache(maxsize=8)
def _block_starts(size: int) -> np.ndarray:
    return np.arange(0, size, BLOCK)


def _search(ends: np.ndarray, mark: float) -> int:
    """Where `mark` falls on weights laid end to end, given where each of them ends; never on a weight of zero."""
    # side="right" never lands on a weight of zero, not even when the mark is 0; rounding may carry it past the end.
    place = int(ends.searchsorted(mark, side="right"))
    return place if place < len(ends) else int(ends.searchsorted(ends[-1]))


def first_arrivals(probs: np.ndarray, noise: np.ndarray, count: int = 1) -> np.ndarray:
    """The tokens that win the exponential race E / probs, in order of arrival, int [<= count].

    Only tokens of positive probability run (exponential races, algorithm 5).
    """
    arrival = np.divide(noise, probs, out=np.full(len(probs), np.inf), where=probs > 0)
    first = smallest(arrival, count)
    return first[probs[first] > 0]


def smallest(values: np.ndarray, count: int) -> np.ndarray:
    """The indices of the `count` smallest values, smallest first, ties by the lower index, int [<= count]."""
    if count == 1:
        return np.array([values.argmin()])
    if 0 < count <= FEW <= len(values):
        found = _one_by_one(values, count)
        if len(found) == count:
            return np.array(found, dtype=int)
    near = np.arange(len(values))
    if 0 < 2 * count < len(values):
        # At least `count` values are as small as the count-th smallest block minimum: no other can be among them.
        far = 2 * count * BLOCK >= len(values)
        lowest = values if far else np.minimum.reduceat(values, _block_starts(len(values)))
        near = np.flatnonzero(values <= np.partition(lowest, count - 1)[count - 1])
    return near[np.argsort(values[near], kind="stable")[:count]]


def _one_by_one(values: np.ndarray, count: int) -> list[int]:
    """As many of the `count` smallest as are finite: the infinite ones look like those found already."""
    rest, found = values.copy(), []
    for _ in range(count):
        place = int(rest.argmin())
        if rest[place] == math.inf:
            break
        found.append(place)
        rest[place] = math.inf
    return found
