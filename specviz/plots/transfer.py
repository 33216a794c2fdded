"""A tree planned for one kind of text and run on another: the cost of a mismatched acceptance vector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..benchmarks.studies import Transfer
from . import theme

TITLE = "A vector from one kind of text, run on another"
HOW_TO_READ = (
    "For each kind of text, bars are trees planned for it and for the other kind, with 95 % CI across texts; outlines "
    "are the predictions of their vectors. Equal bars mean that the shape of the tree has little effect; an outline "
    "far from its bar means that the vector does not fit this text."
)


class Info(NamedTuple):
    """The rows, and for each kind of text what the tree planned for it gains over the best of the others, minus 1."""

    rows: tuple[Transfer, ...]
    gain: dict[str, float]


def info(rows: Sequence[Transfer]) -> Info:
    """The rows of a study."""
    gain = {}
    for kind in dict.fromkeys(row.run_on for row in rows):
        own = [row.measured for row in rows if row.run_on == kind and row.planned_for == kind]
        others = [row.measured for row in rows if row.run_on == kind and row.planned_for != kind]
        if own and others:
            gain[kind] = own[0] / max(others) - 1
    return Info(tuple(rows), gain)


def draw(info: Info) -> go.Figure:
    if not info.rows:
        return theme.empty("No measurement yet.")
    fig = theme.figure("kind of text that was written", "tokens per target pass", TITLE, barmode="group")
    for place, planned in enumerate(dict.fromkeys(row.planned_for for row in info.rows)):
        rows = [row for row in info.rows if row.planned_for == planned]
        where, colour = [row.run_on for row in rows], theme.series(place)["marker"]["color"]
        fig.add_bar(
            x=where, y=[row.measured for row in rows], name=f"tree planned for {planned}", offsetgroup=planned,
            marker={"color": colour, "pattern": {"shape": ("", "/", "x")[place % 3]}}, opacity=0.75,
            error_y={"type": "data", "array": [row.margin for row in rows],
                     "thickness": 1.5, "width": 4, "color": theme.TEXT},
            hovertemplate="%{y:.2f} tokens measured",
        )  # fmt: skip
        fig.add_bar(
            x=where, y=[row.predicted for row in rows], name=f"predicted by the vector of {planned}",
            offsetgroup=planned, marker={"color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 2}},
            hovertemplate="%{y:.2f} tokens predicted",
        )  # fmt: skip
    return fig.update_yaxes(rangemode="tozero")
