"""Speedup against the number of texts decoded together, predicted and measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..many.load_curve import LoadPoint
from ..planning.shared_passes import where_it_ends
from . import theme

TITLE = "Speedup by the number of texts decoded together"
HOW_TO_READ = (
    "For each number of texts that share every pass, the best tree against plain decoding of as many texts: predicted "
    "(line), timed with equal trees, and timed with a budget of nodes that the texts share by survival probability "
    "(marks, with 95 % intervals over rounds). Below the dashed line speculation no longer pays."
)


class Point(NamedTuple):
    """One number of texts: speedups, predicted and measured with half-widths, and the tree of each text."""

    texts: int
    predicted: float
    speedup: float
    margin: float | None
    shared: float | None
    shared_margin: float | None
    tree: str


class Info(NamedTuple):
    """The points, the number of texts rising."""

    points: tuple[Point, ...]


def info(found: Sequence[LoadPoint]) -> Info:
    """The points of a measured load curve, from `load_curve`."""
    return Info(tuple(Point(*(getattr(one, name) for name in Point._fields)) for one in found))


def draw(info: Info) -> go.Figure:
    if not info.points:
        return theme.empty("No timing yet. Start it below.")
    words = where_it_ends([(one.texts, one.speedup) for one in info.points])
    fig = theme.figure("texts decoded together", "speedup over plain decoding", f"{TITLE}: {words}")
    counts = [one.texts for one in info.points]
    predicted = [one.predicted for one in info.points]
    theme.guide(fig, counts, predicted, "predicted", "predicted %{y:.2f}×<extra></extra>")
    for place, (name, key) in enumerate((("equal trees", "speedup"), ("shared budget", "shared"))):
        shown = [one for one in info.points if getattr(one, key) is not None]
        margins = [one.margin if key == "speedup" else one.shared_margin for one in shown]
        values = [getattr(one, key) for one in shown]
        low, high = (
            [margin and value + sign * margin for value, margin in zip(values, margins, strict=True)]
            for sign in (-1, 1)
        )
        theme.curve(
            fig, [one.texts for one in shown], values, name, theme.series(place), "%{y:.2f}×, %{customdata}",
            error_y=theme.error_bars(values, low, high), customdata=[one.tree for one in shown],
        )  # fmt: skip
    theme.logarithmic("x", fig, counts)
    theme.rule_line(fig, 1.0, "plain decoding")
    return fig
