"""Equation 7: greedy rejection's entropy above the divergence."""

from math import log2

from ..entry import Entry, Lines, Series, judge, lab
from .rows import on_rows

EPSILON = 1.0


def bound(kl):
    """The part of the bound without its constant."""
    return kl + (1 + EPSILON) * log2(kl + 1)


def told(data):
    over = max(row[3] - bound(row[0]) for row in data["rows"])
    return judge(
        over < 4,
        f"With epsilon = {EPSILON:g}, H[R] of rejection with independent drafts exceeds KL + 2 log(KL + 1) by at most "
        f"{over:.2f} bits on {len(data['rows'])} pairs of rows: a constant of that size suffices. The paper does not "
        "print the constant, so no more can be checked.",
        f"H[R] exceeds the bound without its constant by {over:.2f} bits.",
    )


ENTRY = Entry(
    "equation-7",
    "Equation 7",
    "An upper bound for rejection (GSD)",
    "H[R] <= KL + (1 + epsilon) log(KL + 1) + O(1) for any epsilon > 0 (Harsha et al., for greedy rejection).",
    told,
    measure=lambda bench: {"rows": on_rows(bench)},
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "KL, bits",
            "H[R] of GSD, bits",
            [
                Series("exact", [[row[0], row[3]] for row in data["rows"]], "dots"),
                Series("KL + 2 log(KL + 1)", [[row[0], bound(row[0])] for row in data["rows"]], "dashes"),
            ],
        )
    ],
)
