"""Two races with one noise, under the target p and the draft q, which is more and more wrong: the
figure of the lesson on races."""

from __future__ import annotations

import numpy as np

from specviz.base.codec import JsonObject
from specviz.sampling.randomness import Seeded, first_arrivals

TOKENS = ("mat", "floor", "bed", "sofa", "roof")
P = np.array([0.4, 0.25, 0.15, 0.12, 0.08])
WRONG = np.array([0.04, 0.5, 0.16, 0.14, 0.16])  # the draft at the end of its dial
NOISE = Seeded(487).noise(0, len(P))  # that the figure opens with
SEEDS = 1000  # whose winners are counted
DIAL_STEPS = 10


def races() -> list[JsonObject]:
    """For each place of the dial, from p itself on: the draft's row, who wins with `NOISE`, and how
    often that is the target's winner."""
    noises = [Seeded(seed).noise(0, len(P)) for seed in range(SEEDS)]
    targets = [winner(P, one) for one in noises]
    drafts = []
    for step in range(DIAL_STEPS + 1):
        error = step / DIAL_STEPS
        q = draft_row(error)
        # With the same noise the winners are equal more often than two independent draws would be.
        equal = [winner(q, one) == own for one, own in zip(noises, targets, strict=True)]
        drafts.append(
            {
                "error": error,
                "row": q,
                "winner": winner(q, NOISE),
                "equal": f"Over {SEEDS} seeds the winners are equal in {np.mean(equal):.0%}.",
            }
        )
    return drafts


def draft_row(error: float) -> np.ndarray:
    """The draft's probabilities: the dial moves them from the target's own to wrong ones."""
    return (1 - error) * P + error * WRONG


def winner(row: np.ndarray, noise: np.ndarray) -> int:
    """The token that arrives first."""
    return int(first_arrivals(row, noise)[0])


def first_error(drafts: list[JsonObject]) -> int:
    """The first place of the dial at which another token wins the draft's race."""
    winners = [draft["winner"] != drafts[0]["winner"] for draft in drafts]
    return winners.index(True)
