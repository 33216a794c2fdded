"""What the survey's own text prints of each family, and what the other four sources print of the same family."""

import json
from functools import lru_cache
from typing import NamedTuple

from ...paths import PUBLISHED
from ..entry import listed

NONE = "none"
# Family on the map -> how the tables of the other four sources call it.
METHODS = {
    "Independent drafting, a chain": ("constant length",),
    "Independent drafting, a tree": ("Sequoia", "DySpec"),
    "Several sequences (SpecInfer)": ("SpecInfer",),
    "Adaptive threshold": ("SVIP",),
    "Heuristic rule": ("heuristic length",),
}


class Printed(NamedTuple):
    """A figure in the survey's text: the family it is of, what it measures, the figure and its place."""

    family: str
    quantity: str
    figure: str
    place: str


HEADS = "Self-drafting: several heads (Medusa, blockwise)"
PRINTED = (
    Printed("Independent drafting, a chain", "acceptance", "about 60 % for the most probable token", "7.1.1"),
    Printed("Independent drafting, a chain", "tokens", "37 tokens in 9 passes", "5.1"),
    Printed("Several sequences (SpecInfer)", "acceptance", "above 90 % for three tokens, nucleus sampling", "7.1.1"),
    Printed(HEADS, "tokens", "m tokens in m / k + 1 passes at best", "3.6"),
)  # the text's only speedup, 2.3 for TriForce, stands in its references (a title), and is of no family here


def in_survey(family: str, *quantities: str) -> str:
    """What the survey's text prints of a family, with its sections, or that it prints none."""
    figures = [f"{one.figure} ({one.place})" for one in PRINTED if one.family == family and one.quantity in quantities]
    return "; ".join(figures) or NONE


def in_others(family: str, quantity: str) -> str:
    """The range of "speedup" or "tokens_per_pass" that the other four sources' tables print of a family."""
    rows = [row for row in _rows() if row["method"] in METHODS.get(family, ()) and row.get(quantity) is not None]
    if not rows:
        return NONE
    values = [row[quantity] for row in rows]
    places: dict[str, list[str]] = {}
    for row in rows:
        of = places.setdefault(row["source"], [])
        if row["place"].lower() not in of:
            of.append(row["place"].lower())
    named = "; ".join(f"{source}, {listed(of)}" for source, of in places.items())
    return f"{min(values):g} to {max(values):g} ({named})"


@lru_cache
def _rows():
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]
