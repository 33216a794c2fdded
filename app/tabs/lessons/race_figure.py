"""Two races with one noise, under the target p and the draft q: the figure of the lesson on
races."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from pydantic import BaseModel, Field

from specviz.base.codec import JsonObject
from specviz.sampling.randomness import Seeded, first_arrivals

from ..parts.request import answer

TOKENS = ("mat", "floor", "bed", "sofa", "roof")
P = np.array([0.4, 0.25, 0.15, 0.12, 0.08])
WRONG = np.array([0.04, 0.5, 0.16, 0.14, 0.16])  # the draft at the end of its dial
SEEDS = 1000  # whose winners are counted
DIAL_STEPS = 20


class Dials(BaseModel):
    """What a visitor can set: how far the draft's row goes from p to `WRONG`, and the seed of the
    noise."""

    error: float = Field(0, ge=0, le=1)
    seed: int = Field(487, ge=0, le=999)


def two_races(request: object) -> str:
    """Both races as JSON, or {"error": a sentence}; `request` has the fields of `Dials`."""
    return answer(Dials, request, race)


def race(dials: Dials) -> JsonObject:
    """The rows, the arrival times and the winners, and how often the winners are equal."""
    q = draft_row(dials.error)
    noise = Seeded(dials.seed).noise(0, len(P))
    return {
        "tokens": TOKENS,
        "rows": {"p": P.tolist(), "q": q.tolist()},
        "times": {"p": (noise / P).tolist(), "q": (noise / q).tolist()},
        "winners": {"p": winner(P, noise), "q": winner(q, noise)},
        # Over many seeds: with the same noise the winners are equal more often than two
        # independent draws would be.
        "equal": float(np.mean([winner(P, one) == winner(q, one) for one in _noises()])),
        "seeds": SEEDS,
        "dials": dials.model_dump(),
    }


def draft_row(error: float) -> np.ndarray:
    """The draft's probabilities: the dial moves them from the target's own to wrong ones."""
    return (1 - error) * P + error * WRONG


def winner(row: np.ndarray, noise: np.ndarray) -> int:
    """The token that arrives first."""
    return int(first_arrivals(row, noise)[0])


def first_error(seed: int) -> float | None:
    """The smallest error, in steps of the dial, at which another token wins the draft's race."""
    noise = Seeded(seed).noise(0, len(P))
    for step in range(DIAL_STEPS + 1):
        error = step / DIAL_STEPS
        if winner(draft_row(error), noise) != winner(P, noise):
            return error
    return None


@lru_cache
def _noises() -> np.ndarray:
    return np.array([Seeded(seed).noise(0, len(P)) for seed in range(SEEDS)])
