"""Equation 7: greedy rejection's entropy above the divergence, on small rows and along a text."""

from math import log2

from ...metrics import plus_minus
from ..entry import Entry, Lines, Series, judge, lab
from .on_text import counted, on_text, shown, spread
from .rows import on_rows

EPSILON, ENOUGH = 1.0, 4.0  # bits that are granted to the constant
NAME = "KL + 2 log(KL + 1)"


def bound(kl):
    """The part of the bound without its constant."""
    return kl + (1 + EPSILON) * log2(kl + 1)


def verdict(data):
    over = max(row[3] - bound(row[0]) for row in data["rows"])
    text = spread(data["text"]["points"], lambda kl, entropy: entropy - bound(kl))
    sentence = (
        f"H[R] of rejection with independent drafts less {NAME} is at most {over:.2f} bits on {len(data['rows'])} "
        f"pairs of rows, and over {counted(data['text'])} {text.mean:.2f}{plus_minus(text.margin)} bits on average, "
        f"from {text.low:.2f} to {text.high:.2f}"
    )
    return judge(
        max(over, text.high) < ENOUGH,
        f"With epsilon = {EPSILON:g}, {sentence}: a constant of that size suffices, and the paper prints none.",
        f"With epsilon = {EPSILON:g}, {sentence}: a constant of {ENOUGH:g} bits does not suffice.",
    )


ENTRY = Entry(
    "equation-7",
    "Equation 7",
    "An upper bound for rejection (GSD)",
    "H[R] <= KL + (1 + epsilon) log(KL + 1) + O(1) for any epsilon > 0 (Harsha et al., for greedy rejection).",
    verdict,
    measure=lambda bench: {"rows": on_rows(bench), "text": on_text(bench, "GSD")},
    how="exact",
    opens=(lab("verification"),),
    shown=lambda data: [
        Lines(
            "KL of small rows, bits",
            "H[R] of GSD, bits",
            [
                Series("exact", [[row[0], row[3]] for row in data["rows"]], "dots"),
                Series(NAME, [[row[0], bound(row[0])] for row in data["rows"]], "dashes"),
            ],
        ),
        *shown(data["text"], "GSD", bound, NAME),
    ],
)
