"""Equations 1 to 3: the expected acceptance of one token is 1 - TV, counted and computed."""

from math import sqrt

import numpy as np

from ...builders import BUILDERS
from ...randomness import Seeded
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, lab, live

TEMPERATURE = 1.0


def measure(bench):
    rng, hits, expected, variance = Seeded(11), 0, 0.0, 0.0
    rows = bench.positions(TEMPERATURE)
    for row in rows:
        beta = float(np.minimum(row.p, row.q).sum())
        token = rng.draw(row.q)
        accepted, _ = rng.flip(min(1.0, float(row.p[token] / row.q[token])))
        hits, expected, variance = hits + accepted, expected + beta, variance + beta * (1 - beta)
    return {
        "counted": hits / len(rows),
        "expected": expected / len(rows),
        "error": sqrt(variance) / len(rows),
        "positions": len(rows),
    }


def verdict(data):
    off = abs(data["counted"] - data["expected"]) / max(data["error"], 1e-9)
    return judge(
        off < 3.5,
        f"One token was drawn and tried at each of {data['positions']} positions: {data['counted']:.3f} of them were "
        f"accepted where 1 - TV says {data['expected']:.3f}, {off:.1f} standard errors apart.",
    )


ENTRY = Entry(
    "equation-2",
    "Equations 1 to 3",
    "The chance to accept is 1 - TV",
    "beta = sum over x of q(x) min(1, p(x) / q(x)) = sum min(p, q) = 1 - TVD(p, q).",
    verdict,
    measure=measure,
    opens=(
        lab("verification", preset="transport"),
        live(BUILDERS["chain"](), VERIFIERS["speculative-sampling"](), TEMPERATURE),
    ),
    shown=lambda data: [
        Table(
            ("Positions", "Accepted", "1 - TV", "Standard error"),
            [[data["positions"], data["counted"], data["expected"], data["error"]]],
        )
    ],
)
