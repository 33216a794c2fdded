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
        unit, scale = table.display_unit
        # Relative to one node, so that machines of very different speed share an axis.
        one = table.target_s[0]
        times = [seconds / one for seconds in table.target_s]
        spread = np.array(table.spread.get("target") or [(s, s) for s in table.target_s]) / one
        bars = theme.error_bars(times, *spread.T.tolist())
        label = f"{name}: {scale * one:.3g} {unit} for one node"
        style = theme.machine_series(name, place)
        style["line"]["dash"] = "dash" if table.projection else "solid"
        theme.curve(fig, table.sizes, times, label, style, "%{x} nodes: %{y:.2f} ×", error_y=bars)
    theme.logarithmic("x", fig, powers_of_two(fig))
    theme.logarithmic("y", fig, [1, 2, 3, 4, 5, 10, 20, 30, 50, 100])
    return theme.label_lines(fig)


def powers_of_two(fig: go.Figure) -> list[int]:
    """The sizes that are drawn so far and are ticks of an axis."""
    return [size for size in theme.drawn_places(fig) if size.bit_count() == 1]


def plot_sizes(forecasts: Mapping[str, Forecast]) -> go.Figure:
    """Draw the predicted speedup of the best tree of each size, a line for each machine.

    Args:
        forecasts: name of the machine -> forecast.
    """
    fig = theme.figure(TREE_SIZE, "times as fast, predicted")
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
        # The star has its numbers beside it, since the best size is the answer of the figure.
        top = predicted.best
        fig.add_scatter(
            x=[top.size],
            y=[top.speedup],
            text=f"{top.size} nodes: {top.speedup:.1f} ×",
            textposition="top right",
            hoverinfo="skip",
            cliponaxis=False,  # the words may stand above the highest line
            mode="markers+text",
            marker=style["marker"] | {"symbol": "star", "size": 16},
        )
    theme.plain_line(fig)
    theme.logarithmic("x", fig, powers_of_two(fig))
    fig.update_yaxes(rangemode="tozero")
    return theme.label_lines(fig)


def plot_predicted(groups: Mapping[str, Sequence[Point]]) -> go.Figure:
    """Draw predicted speedup as a line and measured speedup as marks with intervals.

    Args:
        groups: name of the machine -> timed trees (Sequoia, figure 4).
    """
    if not any(groups.values()):
        return theme.empty("Nothing was timed.")
    fig = theme.figure(TREE_SIZE, "times as fast as plain decoding")
    theme.explain_marks(fig, "○ predicted  ■ timed (bar: range)")
    for place, (machine, group) in enumerate(groups.items()):
        _add_predicted(fig, machine, place, sorted(group, key=lambda one: (one.size, one.name)))
    theme.plain_line(fig)
    theme.logarithmic("x", fig, theme.drawn_places(fig))
    fig.update_yaxes(rangemode="tozero")
    return theme.label_lines(fig)


def _add_predicted(fig: go.Figure, machine: str, place: int, points: Sequence[Point]) -> None:
    """Add one machine: its predictions as a line, what was timed as squares."""
    style = theme.machine_series(machine, place)
    # A line and marks in one colour: the eye compares what was timed with its own prediction.
    names, sizes, predicted, measured, low, high = zip(*points, strict=True)
    fig.add_scatter(
        x=sizes,
        y=predicted,
        name=f"{machine}: predicted",
        mode="lines+markers",
        line=style["line"],
        marker={"symbol": "circle-open", "size": 8},
        text=names,
        hovertemplate="%{text}: %{y:.2f} predicted<extra></extra>",
    )
    fig.add_scatter(
        x=sizes,
        y=measured,
        name=f"{machine}: timed",
        mode="markers",
        marker={"color": style["marker"]["color"], "symbol": "square", "size": 9},
        text=names,
        error_y=theme.error_bars(measured, low, high),
        hovertemplate="%{text}: %{y:.2f} timed<extra></extra>",
    )
