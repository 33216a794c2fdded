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


class Dials(BaseModel):
    """What a visitor can set: how far the draft's row goes from p to `WRONG`, and the seed of the
    noise."""

    error: float = Field(0.25, ge=0, le=1)
    seed: int = Field(487, ge=0, le=999)


def two_races(request: object) -> str:
    """Both races as JSON, or {"error": a sentence}; `request` has the fields of `Dials`."""
    return answer(Dials, request, race)


def race(dials: Dials) -> JsonObject:
    """The rows, the arrival times and the winners, and how often the winners are equal."""
    # The dial moves the draft from the target's own row to a wrong one.
    q = (1 - dials.error) * P + dials.error * WRONG
    noise = Seeded(dials.seed).noise(0, len(P))
    winners = {}
    for name, row in (("p", P), ("q", q)):
        winners[name] = int(first_arrivals(row, noise)[0])
    return {
        "tokens": TOKENS,
        "rows": {"p": P.tolist(), "q": q.tolist()},
        "times": {"p": (noise / P).tolist(), "q": (noise / q).tolist()},
        "winners": winners,
        # Over many seeds: with the same noise the winners are equal more often than two
        # independent draws would be.
        "equal": float(
            np.mean([first_arrivals(P, one)[0] == first_arrivals(q, one)[0] for one in _noises()])
        ),
        "seeds": SEEDS,
        "dials": dials.model_dump(),
    }


@lru_cache
def _noises() -> np.ndarray:
    return np.array([Seeded(seed).noise(0, len(P)) for seed in range(SEEDS)])


START = race(Dials())
