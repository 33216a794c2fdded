"""Algorithm 2: one race for draft and target; its acceptance, run and computed."""

from math import sqrt

import numpy as np

from ...randomness import Seeded
from ...theory.bounds import race_acceptance
from ..entry import Entry, Table, judge, lab

TEMPERATURE = 1.0


def measure(bench):
    rng, hits, expected, variance = Seeded(3), 0, 0.0, 0.0
    rows = bench.positions(TEMPERATURE)
    for turn, row in enumerate(rows):
        noise = rng.noise(turn, len(row.p))
        with np.errstate(divide="ignore"):
            hits += int(np.argmin(noise / row.p)) == int(np.argmin(noise / row.q))
        share = race_acceptance(row.p, row.q)
        expected, variance = expected + share, variance + share * (1 - share)
    n = len(rows)
    return {"counted": hits / n, "expected": expected / n, "error": sqrt(variance) / n, "positions": n}


def verdict(data):
    off = abs(data["counted"] - data["expected"]) / max(data["error"], 1e-9)
    return judge(
        off < 3.5,
        f"Races were run at {data['positions']} positions: draft and target have one winner in {data['counted']:.3f} "
        "of them, where the closed form (sum over x of 1 / sum over y of max(p_y / p_x, q_y / q_x), not in the "
        f"paper) says {data['expected']:.3f}, {off:.1f} standard errors apart.",
    )


ENTRY = Entry(
    "algorithm-2",
    "Algorithm 2",
    "One race, two rows: how often the winner is the same",
    "The draft's token is the winner under q of a race with exponential variables, the target's the winner under p "
    "of the same race; if they are equal the draft is accepted.",
    verdict,
    measure=measure,
    opens=(lab("verification", preset="several"),),
    shown=lambda data: [
        Table(
            ("Positions", "One winner, counted", "Closed form", "Standard error"),
            [[data["positions"], data["counted"], data["expected"], data["error"]]],
        )
    ],
)
