"""Measured and predicted speedup, relative to plain decoding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from . import theme

TITLE = "Speedup, predicted and measured"
HOW_TO_READ = (
    "Line: prediction from acceptance and costs. Marks: measurements, with bars over the prompts. Above the dashed "
    "line speculation is faster than plain decoding on the same machine; orange crosses are slower."
)


AXES = {"size": "tree size (nodes, including the root)", "temperature": "temperature"}


class Point(NamedTuple):
    """One configuration: its name, its place on the axis (tree size or temperature), predicted and measured speedup,
    and the span of the rounds or prompts."""

    name: str
    size: float
    predicted: float
    measured: float
    low: float
    high: float


class Info(NamedTuple):
    """Points in order of the axis, measured over predicted, which of them lose, and the largest error."""

    points: tuple[Point, ...]
    ratios: tuple[float, ...]
    loses: tuple[bool, ...]
    worst: float
    axis: str


def info(points: Sequence[Point], axis: str = "size") -> Info:
    """The points in order; `axis` is what their `size` means, "size" or "temperature" (Sequoia, figure 4)."""
    points = tuple(sorted(points, key=lambda point: (point.size, point.name)))
    ratios = tuple(point.measured / point.predicted for point in points)
    worst = max((abs(ratio - 1) for ratio in ratios), default=0.0)
    return Info(points, ratios, tuple(point.measured < 1 for point in points), worst, axis)


def draw(info: Info) -> go.Figure:
    if not info.points:
        return theme.empty("No timing yet. Time some tree sizes to compare them with the prediction.")
    title = f"{TITLE}: the largest prediction error is {100 * info.worst:.0f} %"
    fig = theme.figure(AXES[info.axis], "speedup (×) vs. plain decoding", title)
    sizes = [point.size for point in info.points]
    fig.add_scatter(
        x=sizes, y=[point.predicted for point in info.points], name="predicted", mode="lines+markers",
        line={"color": theme.SKY}, marker={"symbol": "circle-open", "size": 8},
        text=[theme.titled(point.name) for point in info.points],
        hovertemplate="%{text}: %{y:.2f} predicted<extra></extra>",
    )  # fmt: skip
    for lost, name, colour, mark in (
        (False, "measured", theme.GREEN, "square"), (True, "measured, slower than plain", theme.VERMILLION, "x"),
    ):  # fmt: skip
        chosen = [point for point, loses in zip(info.points, info.loses, strict=True) if loses == lost]
        if chosen:
            values = [point.measured for point in chosen]
            fig.add_scatter(
                x=[point.size for point in chosen], y=values, name=name, mode="markers",
                marker={"color": colour, "symbol": mark, "size": 9},
                text=[theme.titled(point.name) for point in chosen],
                error_y=theme.error_bars(values, [point.low for point in chosen], [point.high for point in chosen]),
                hovertemplate="%{text}: %{y:.2f} measured<extra></extra>",
            )  # fmt: skip
    theme.rule_line(fig, 1.0, "plain decoding")
    if info.axis == "size":
        theme.logarithmic("x", fig, sorted(set(sizes)))
    fig.update_yaxes(rangemode="tozero")
    return fig
