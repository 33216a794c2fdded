"""Equation 5: Pinsker's lower bound holds at every position."""

from math import isfinite

import numpy as np

from ...distributions import entropy
from ...theory.bounds import cross_entropy, pinsker_bound
from ..entry import Entry, Table, judge, percent, tab

TEMPERATURE = 1.0


def measure(bench):
    held, useful, gaps = 0, 0, []
    rows = bench.positions(TEMPERATURE)
    for row in rows:
        beta = float(np.minimum(row.p, row.q).sum())
        kl = cross_entropy(row.q, row.p) - entropy(row.q)
        bound = pinsker_bound(max(0.0, kl)) if isfinite(kl) else float("-inf")
        held += beta >= bound - 1e-9
        useful += bound > 0
        gaps.append(beta - max(0.0, bound))
    return {"positions": len(rows), "held": held, "useful": useful / len(rows), "gap": sum(gaps) / len(gaps)}


def verdict(data):
    return judge(
        data["held"] == data["positions"],
        f"The bound holds at all {data['positions']} positions; it says anything at all (is above 0) at "
        f"{percent(data['useful'])} of them, and lies {data['gap']:.2f} below the acceptance on average.",
        f"The bound fails at {data['positions'] - data['held']} of {data['positions']} positions.",
    )


ENTRY = Entry(
    "equation-5",
    "Equations 4 and 5",
    "A lower bound from cross-entropy and entropy",
    "beta >= 1 - sqrt(KL(q || p) / 2) = 1 - sqrt(H(q, p) / 2 - H(q) / 2), by Pinsker's inequality.",
    verdict,
    measure=measure,
    opens=(tab("acceptance"),),
    shown=lambda data: [
        Table(
            ("Positions", "Bound holds", "Share above 0", "Mean distance"),
            [[data["positions"], data["held"], data["useful"], data["gap"]]],
        )
    ],
)
