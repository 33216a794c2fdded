"""Rows to check bounds on: small ones, where the law of the accepted index is exact, and the acceptance vectors."""

import math

import numpy as np

from ...randomness import Seeded
from ...theory import node

SMALL, TOKENS = 24, 5
REPEATED = 600  # independent draws that are distinguished


def small_rows():
    """Pairs (p, q) of a few tokens, from nearly equal to far apart."""
    rng, pairs = Seeded(5), []
    for turn in range(SMALL):
        p, other = (_row(rng.noise(2 * turn + i, TOKENS), 0.3 + turn % 4) for i in (0, 1))
        mix = turn / (SMALL - 1)
        pairs.append((p, (1 - mix) * p + mix * other))
    return pairs


def _row(noise, power):
    weights = noise**power
    return weights / weights.sum()


def index_laws(p, q):
    """R for rejection (GSD) and races (ERSD): the chance that the k-th child is the accepted one; each sums to 1.

    "with replacement" is rejection with independent draws, the setting of channel simulation.
    """
    reached = np.array([node.race_acceptance(p, q, k) for k in range(1, len(p) + 1)])
    again = node.specinfer_acceptance(p, q, REPEATED)
    return {
        "GSD": node.sequoia_acceptance(p, q, len(p)),
        "ERSD": np.diff(reached, prepend=0.0),
        "with replacement": np.append(again, max(0.0, 1 - again.sum())),
    }


def bits(row):
    """Entropy in bits."""
    row = np.asarray(row, float)
    row = row[row > 1e-15]
    return float(-(row * np.log2(row)).sum())


def divergence(p, q):
    """KL(p || q) in bits."""
    kept = p > 0
    return float((p[kept] * np.log2(p[kept] / q[kept])).sum()) if (q[kept] > 0).all() else math.inf


def completed(vector, size):
    """A vector that sums to 1: what it lacks is spread evenly over the ranks up to `size`."""
    rest = max(0.0, 1 - sum(vector))
    more = max(1, size - len(vector))
    return (*vector, *([rest / more] * more))


def on_rows(bench):
    """For every small pair of rows (KL, H of GSD, of ERSD, and of rejection with independent draws), in bits."""
    points = []
    for turn, (p, q) in enumerate(small_rows(), 1):
        bench.report(f"Exact laws of the accepted index: {turn} of {SMALL}.")
        distributions = index_laws(p, q)
        if distributions["with replacement"][-1] > 1e-6:  # so far apart that the distinct draws do not hold the law
            continue
        points.append(
            [
                divergence(p, q),
                bits(distributions["GSD"]),
                bits(distributions["ERSD"]),
                bits(distributions["with replacement"]),
            ]
        )
    return sorted(points)
