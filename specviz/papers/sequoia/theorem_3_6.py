"""Theorem 3.6: growth at least as b log n / log log n, drawn beside the trees of the proof."""

from math import log

import numpy as np

from ...builders.sequoia import best_trees
from ...theory.bounds import fit_power_law
from ..entry import Entry, Lines, Series, judge, lab

SIZES, TEMPERATURE = (8, 16, 32, 64, 128, 256, 512, 768), 0.8
PROOF = 10  # the constant that the proof divides by


def measure(bench):
    vector = bench.vector(TEMPERATURE)
    left = 1 - np.cumsum(vector)
    scale, exponent = fit_power_law(range(1, len(left) + 1), left.tolist())
    trees = best_trees(vector, SIZES, [24], 32)
    bench.report("The k-ary trees of the proof.")
    return {
        "sequoia": [[n, trees[n, 24][1]] for n in SIZES],
        "k-ary": [[n, max(_k_ary(vector, n, k) for k in range(1, 33))] for n in SIZES],
        "bound": [[n, exponent * log(n) / (PROOF * log(log(n)))] for n in SIZES],
        "rejection": [[k + 1, float(r)] for k, r in enumerate(left) if r > 0],
        "fit": [[k, scale * k**-exponent] for k in range(1, len(left) + 1)],
        "exponent": exponent,
    }


def _k_ary(vector, n, k):
    """Expected tokens of the largest full k-ary tree of at most n nodes: 1 + a + ... + a^d."""
    depth, nodes = 0, 1
    while nodes + k ** (depth + 1) <= n:
        depth, nodes = depth + 1, nodes + k ** (depth + 1)
    alpha = min(1.0, sum(vector[:k]))
    return float(sum(alpha**level for level in range(depth + 1)))


def verdict(data):
    above = all(
        s[1] >= k[1] - 1e-6 >= b[1] - 1e-6
        for s, k, b in zip(data["sequoia"], data["k-ary"], data["bound"], strict=True)
    )
    growth = data["sequoia"][-1][1] - data["sequoia"][-2][1]
    return judge(
        above,
        f"With the measured vector, whose rejection falls about as k^-{data['exponent']:.2f}, Sequoia's tree lies "
        f"above the best k-ary tree at every size and both above the bound, which its constant of 1/{PROOF} leaves "
        f"far below; the last doubling or so still brought {growth:.2f} tokens.",
        "At some size the order Sequoia, k-ary tree, bound is broken.",
    )


ENTRY = Entry(
    "theorem-3-6",
    "Theorem 3.6",
    "Tokens grow without end, about as the logarithm of the size",
    "If the rejection rate of k children is at most 1 / k^b, Sequoia's tree of n nodes brings Omega(b log n / log "
    "log n) tokens; the proof shows b log n / (10 log log n) for the best k-ary tree k*(n) (theorem F.2).",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("tree", preset="figure-5"),),
    shown=lambda data: [
        Lines(
            "nodes",
            "expected tokens a pass",
            [
                Series("Sequoia", data["sequoia"]),
                Series("best k-ary tree k*(n)", data["k-ary"]),
                Series("b log n / (10 log log n)", data["bound"], "dashes"),
            ],
            log_x=True,
        ),
        Lines(
            "children",
            "rejection rate",
            [
                Series("measured", data["rejection"]),
                Series("fitted power law", data["fit"], "dashes"),
            ],
            log_x=True,
            log_y=True,
        ),
    ],
)
