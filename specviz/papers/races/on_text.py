"""Divergence and entropy of the accepted index along a text, and how far they lie from their bound, in bits."""

import math
from typing import NamedTuple

import numpy as np

from ...metrics import estimate
from ...theory.index import race_index_entropy, rejection_index_entropy
from ..entry import Lines, Series, Table
from .rows import divergence

TEMPERATURE = 1.0
ENTROPIES = {"GSD": rejection_index_entropy, "ERSD": race_index_entropy}


def on_text(bench, method):
    """[text, KL, H[R] with independent drafts] at every position of the target's own texts, and how many were left out.

    A position is left out where p has a token that q has not: both are infinite there.

    Raises:
        ValueError: if that is every position.
    """
    found, left_out = [], 0
    for text, rows in enumerate(bench.rows(TEMPERATURE)):
        bench.report(f"The accepted index of {method} along text {text + 1}.")
        for row in rows:
            kl = divergence(row.p, row.q)
            if math.isfinite(kl):
                found.append([text, kl, ENTROPIES[method](row.p, row.q) / math.log(2)])
            else:
                left_out += 1
    if not found:
        raise ValueError(f"The divergence is infinite at all {left_out} positions; use a draft without zeros.")
    return {"points": found, "left_out": left_out}


class Spread(NamedTuple):
    """A mean over positions, the half-width of its 95 % interval over texts, and how single positions scatter."""

    mean: float
    margin: float | None
    deviation: float
    low: float
    high: float


def spread(points, value):
    """The spread of value(KL, H) over positions; `low` and `high` hold all of them."""
    values = np.array([value(kl, entropy) for _, kl, entropy in points])
    texts = np.array([text for text, *_ in points])
    sums = [(values[texts == text].sum(), int((texts == text).sum())) for text in np.unique(texts)]
    mean, margin = estimate(sums)
    return Spread(mean, margin, float(values.std()), float(values.min()), float(values.max()))


def counted(text):
    """Of how many positions of how many texts."""
    texts = len({point[0] for point in text["points"]})
    left = f" ({text['left_out']} more have no finite divergence)" if text["left_out"] else ""
    return f"{len(text['points'])} positions of {texts} texts{left}"


def shown(text, method, bound, name):
    """The figure over positions and the table of means and spreads, beside a bound(KL)."""
    points = text["points"]
    kinds = {
        "KL": lambda kl, entropy: kl,
        f"H[R] of {method}": lambda kl, entropy: entropy,
        name: lambda kl, entropy: bound(kl),
        f"H[R] less {name}": lambda kl, entropy: entropy - bound(kl),
    }
    levels = sorted(kl for _, kl, _ in points)
    return [
        Lines(
            "KL at a position of text, bits",
            f"H[R] of {method}, bits",
            [
                Series("positions", [[kl, entropy] for _, kl, entropy in points], "dots"),
                Series(name, [[kl, bound(kl)] for kl in levels], "dashes"),
                Series("KL", [[kl, kl] for kl in (levels[0], levels[-1])], "dashes"),
            ],
        ),
        Table(
            ("Over a text, bits", "Mean", "95 % over texts, ±", "Deviation", "Lowest", "Highest"),
            [[kind, *spread(points, value)] for kind, value in kinds.items()],
        ),
    ]
