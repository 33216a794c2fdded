"""Figures of speed: the cost of a pass, the best tree of each size, predicted and measured
speedup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from ..measure.cost_table import CostTable
from ..measure.forecast import Forecast
from ..measure.this_machine import Point
from . import theme

TREE_SIZE = "nodes in the tree"


def plot_cost(tables: Mapping[str, CostTable]) -> go.Figure:
    """Draw the time of one target pass over n nodes, relative to a pass over one node, for several
    machines.

    Args:
        tables: name -> costs; a projection is drawn dashed.
    """
    fig = theme.figure(TREE_SIZE, "time, one node = 1")
    theme.explain_marks(fig, "bar: middle half of the timed passes")
    for place, (name, table) in enumerate(tables.items()):
        # Relative to one node, so that machines of very different speed share an axis.
        one = table.target_s[0]
        times = [seconds / one for seconds in table.target_s]
        spread = np.array(table.spread.get("target") or [(s, s) for s in table.target_s]) / one
        bars = theme.error_bars(times, *spread.T.tolist())
        style = theme.machine_series(name, place)
        style["line"]["dash"] = "dash" if table.projection else "solid"
        theme.curve(fig, table.sizes, times, name, style, "%{x} nodes: %{y:.2f} ×", error_y=bars)
    theme.logarithmic("x", fig, powers_of_two(fig))
    theme.logarithmic("y", fig, theme.FACTORS)
    return theme.label_lines(fig)


def powers_of_two(fig: go.Figure) -> list[int]:
    """The sizes that are drawn so far and are ticks of an axis."""
    return [size for size in theme.drawn_places(fig) if size.bit_count() == 1]


def plot_sizes(forecasts: Mapping[str, Forecast]) -> go.Figure:
    """Draw the predicted speedup of the best tree of each size, a line for each machine, and a
    star at the fastest.

    Args:
        forecasts: name of the machine -> forecast.
    """
    fig = theme.figure(TREE_SIZE, "times as fast as plain decoding")
    theme.explain_marks(fig, "predicted")
    for place, (name, predicted) in enumerate(forecasts.items()):
        best = predicted.best_of_sizes
        style = theme.machine_series(name, place)
        theme.curve(
            fig,
            [cell.size for cell in best],
            [cell.speedup for cell in best],
            name,
            style,
            "%{x} nodes, %{customdata} levels: %{y:.2f} ×",
            customdata=[cell.depth for cell in best],
        )
        fastest = predicted.best
        if fastest.speedup <= 1:  # none is faster than plain decoding
            continue
        # The star has its numbers beside it, since the best size is the answer of the figure.
        fig.add_scatter(
            x=[fastest.size],
            y=[fastest.speedup],
            text=f"{fastest.size} nodes: {fastest.speedup:.1f} ×",
            textposition="top right",
            hoverinfo="skip",
            cliponaxis=False,  # the words may stand above the highest line
            mode="markers+text",
            marker=style["marker"] | {"symbol": "star", "size": 16},
        )
    theme.plain_line(fig)
    theme.logarithmic("x", fig, powers_of_two(fig))
    return theme.label_lines(fig)


def plot_predicted(groups: Mapping[str, Sequence[Point]]) -> go.Figure:
    """Draw predicted speedup as a line and measured speedup as marks with intervals.

    Args:
        groups: name of the machine -> timed trees (Sequoia, figure 4).
    """
    if not any(groups.values()):
        raise ValueError("There must be at least one timed tree.")
    fig = theme.figure(TREE_SIZE, "times as fast as plain decoding")
    theme.explain_marks(fig, "○ predicted  ■ timed (bar: range)")
    for place, (machine, group) in enumerate(groups.items()):
        style = theme.machine_series(machine, place)
        points = sorted(group, key=lambda one: one.size)
        # A line and marks in one colour: the eye compares what was timed with its own prediction.
        theme.curve(
            fig,
            [point.size for point in points],
            [point.predicted for point in points],
            f"{machine}: predicted",
            style | {"marker": {"symbol": "circle-open", "size": 8}},
            "%{text}: %{y:.2f} predicted",
            text=[point.name for point in points],
        )
        names, sizes, _, measured, low, high = zip(*points, strict=True)
        fig.add_scatter(
            x=sizes,
            y=measured,
            name=f"{machine}: timed",
            mode="markers",
            marker=style["marker"] | {"symbol": "square"},
            text=names,
            error_y=theme.error_bars(measured, low, high),
            hovertemplate="%{text}: %{y:.2f} timed<extra></extra>",
        )
    theme.plain_line(fig)
    theme.logarithmic("x", fig, theme.drawn_places(fig))
    return theme.label_lines(fig)
