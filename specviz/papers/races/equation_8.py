"""Equation 8: the upper bound for races, on small rows and along a text."""

from math import log2

from ...metrics import plus_minus
from ..entry import Entry, Lines, Series, judge, lab
from .on_text import counted, on_text, shown, spread
from .rows import on_rows

NAME = "KL + log(KL + 1) + 4"


def bound(kl):
    """Li and El Gamal's bound in bits."""
    return kl + log2(kl + 1) + 4


def verdict(data):
    slack = min(bound(row[0]) - row[2] for row in data["rows"])
    text = spread(data["text"]["points"], lambda kl, entropy: bound(kl) - entropy)
    return judge(
        min(slack, text.low) >= 0,
        f"H[R] of races stays at least {slack:.2f} bits below {NAME} on {len(data['rows'])} pairs of rows with exact "
        f"laws, and over {counted(data['text'])}, with independent drafts, {text.mean:.2f}{plus_minus(text.margin)} "
        f"bits on average, from {text.low:.2f} to {text.high:.2f}.",
        f"H[R] of races passes the bound by {-min(slack, text.low):.2f} bits.",
    )


ENTRY = Entry(
    "equation-8",
    "Equation 8",
    "An upper bound for races (ERSD)",
    "H[R] <= KL + log(KL + 1) + 4 bits (Li and El Gamal, for the Poisson functional representation).",
    verdict,
    measure=lambda bench: {"rows": on_rows(bench), "text": on_text(bench, "ERSD")},
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "KL of small rows, bits",
            "H[R] of ERSD, bits",
            [
                Series("exact", [[row[0], row[2]] for row in data["rows"]], "dots"),
                Series(NAME, [[row[0], bound(row[0])] for row in data["rows"]], "dashes"),
            ],
        ),
        *shown(data["text"], "ERSD", bound, NAME),
    ],
)
