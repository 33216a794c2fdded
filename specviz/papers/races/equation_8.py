"""Equation 8: the upper bound for races."""

from math import log2

from ..entry import Entry, Lines, Series, judge, lab
from .rows import on_rows


def bound(kl):
    """Li and El Gamal's bound in bits."""
    return kl + log2(kl + 1) + 4


def told(data):
    slack = min(bound(row[0]) - row[2] for row in data["rows"])
    return judge(
        slack >= 0,
        f"H[R] of races stays at least {slack:.2f} bits below KL + log(KL + 1) + 4 on {len(data['rows'])} pairs of "
        "rows with exact laws.",
        f"H[R] of races passes the bound by {-slack:.2f} bits.",
    )


ENTRY = Entry(
    "equation-8",
    "Equation 8",
    "An upper bound for races (ERSD)",
    "H[R] <= KL + log(KL + 1) + 4 bits (Li and El Gamal, for the Poisson functional representation).",
    told,
    measure=lambda bench: {"rows": on_rows(bench)},
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "KL, bits",
            "H[R] of ERSD, bits",
            [
                Series("exact", [[row[0], row[2]] for row in data["rows"]], "dots"),
                Series("KL + log(KL + 1) + 4", [[row[0], bound(row[0])] for row in data["rows"]], "dashes"),
            ],
        )
    ],
)
