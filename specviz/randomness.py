"""Where chance comes from: the three questions that builders and verifiers may ask.

`flip` and `draw` are asked of a stream of fresh numbers; a test answers them itself and so enumerates every outcome.
`noise` is keyed by the absolute position in the text and belongs to rules whose output is argmin E/p: asking twice
for the same position gives the same numbers, which is what makes a seeded text independent of the draft.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np


class Randomness(Protocol):
    """What a builder or a verifier may ask of chance."""

    def flip(self, prob: float) -> tuple[bool, float]:
        """Answer yes with probability `prob`; also the coin in [0, 1) that was compared with it."""

    def draw(self, probs: np.ndarray) -> int:
        """A token drawn from `probs`, [V], non-negative weights that need not sum to one."""

    def noise(self, position: int, size: int) -> np.ndarray:
        """Independent Exp(1) numbers for one absolute position of the text, float64 [size]."""


class Seeded:
    """Randomness from a seed: a stream for `flip` and `draw`, and a keyed generator for `noise`.

    Args:
        seed: a whole number from 0; the same seed gives the same answers.
    """

    def __init__(self, seed: int) -> None:
        self.seed = int(seed)
        self._stream = np.random.default_rng([self.seed, 0])

    def flip(self, prob: float) -> tuple[bool, float]:
        coin = float(self._stream.random())
        return coin < prob, coin

    def draw(self, probs: np.ndarray) -> int:
        mass = np.cumsum(probs)
        # side="right" never lands on a token of probability zero, not even when the uniform number is 0.
        token = int(np.searchsorted(mass, self._stream.random() * mass[-1], side="right"))
        return min(token, int(np.searchsorted(mass, mass[-1])))

    def noise(self, position: int, size: int) -> np.ndarray:
        return np.random.default_rng([self.seed, 1, int(position)]).exponential(size=size)


def first_arrivals(probs: np.ndarray, noise: np.ndarray, count: int = 1) -> np.ndarray:
    """The tokens that win the exponential race E / probs, in order of arrival, int [<= count].

    Only tokens of positive probability run (exponential races, algorithm 5).
    """
    runners = np.flatnonzero(probs > 0)
    arrival = noise[runners] / probs[runners]
    first = np.argpartition(arrival, min(count, len(runners)) - 1)[:count]
    return runners[first[np.argsort(arrival[first], kind="stable")]]
