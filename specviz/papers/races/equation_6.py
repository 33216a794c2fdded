"""Equation 6: the divergence is a lower bound of the entropy of the accepted index."""

import numpy as np

from ...randomness import Seeded
from ...sampling import draw_children
from ...theory.node import sequoia_refusals
from ..entry import Entry, Lines, Series, Table, judge, lab
from .rows import TOKENS, bits, divergence, on_rows

TEMPERATURE, DRAWS, CHILDREN, POSITIONS = 1.0, 8, 32, 60


def on_text(bench):
    """Means over positions of a text of (KL, H of GSD with its tail as one index), in bits."""
    rows, rng, points = bench.positions(TEMPERATURE), Seeded(9), []
    for turn, row in enumerate(rows[:: max(1, len(rows) // POSITIONS)]):
        bench.report(f"The accepted index at position {turn + 1}.")
        k = min(CHILDREN, len(row.q))
        refused = np.mean(
            [sequoia_refusals(row.p, row.q, draw_children(row.q, k, "distinct", rng, 0)) for _ in range(DRAWS)], axis=0
        )
        shares = -np.diff(np.append(1.0, refused))
        points.append([divergence(row.p, row.q), bits(np.append(shares.clip(0), refused[-1]))])
    finite = [pair for pair in points if np.isfinite(pair[0])]
    return np.mean(finite, axis=0).tolist(), len(finite)


def measure(bench):
    points = on_rows(bench)
    (kl, entropy), positions = on_text(bench)
    return {"rows": points, "text": [kl, entropy], "positions": positions}


def verdict(data):
    broken = sum(row[0] > row[3] + 2e-3 for row in data["rows"])
    below = sum(row[0] > min(row[1], row[2]) + 2e-3 for row in data["rows"])
    kl, entropy = data["text"]
    return judge(
        broken == 0 and kl <= entropy,
        f"For independent drafts, the setting of channel simulation, KL <= H[R] on all {len(data['rows'])} pairs of "
        f"rows with exact laws; over {data['positions']} positions of text KL is {kl:.2f} bits on average and H[R] at "
        f"least {entropy:.2f}. Drawn without replacement, as the paper drafts, the index cannot exceed the "
        f"vocabulary, and on {below} of the pairs, of {TOKENS} tokens each, its entropy falls below KL: with few "
        "tokens the bound does not hold.",
        f"The inequality fails for {broken} of {len(data['rows'])} pairs of rows with independent drafts, or on text "
        f"({kl:.2f} against {entropy:.2f} bits).",
    )


ENTRY = Entry(
    "equation-6",
    "Equation 6",
    "KL(P || Q) <= H[R]",
    "Channel simulation: the divergence between target and draft is a lower bound of the entropy of which draft is "
    "accepted.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "KL, bits",
            "H[R], bits",
            [
                Series("GSD", [[row[0], row[1]] for row in data["rows"]], "dots"),
                Series("ERSD", [[row[0], row[2]] for row in data["rows"]], "dots"),
                Series("H = KL", [[row[0], row[0]] for row in data["rows"]], "dashes"),
            ],
        ),
        Table(("Mean over a text, bits", "Value"), [["KL", data["text"][0]], ["H[R] at least", data["text"][1]]]),
    ],
)
