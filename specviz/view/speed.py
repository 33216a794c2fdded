"""Figures of speed: the cost of a pass, the map of trees, predicted and measured speedup."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain

import numpy as np
import plotly.graph_objects as go

from ..measure.cost_table import CostTable
from ..measure.forecast import Forecast
from ..measure.this_machine import Point
from . import theme


def plot_cost(tables: Mapping[str, CostTable]) -> go.Figure:
    """Draw the time of one target pass over n nodes, relative to a pass over one node, for several
    machines.

    Args:
        tables: name -> costs; a projection is drawn dashed.
    """
    fig = theme.figure("n, nodes in the tree", "time / time for one node")
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
    theme.logarithmic("x", fig, powers_of_two(tables.values()))
    theme.logarithmic("y", fig, [1, 2, 5, 10, 20, 50, 100])
    return theme.label_lines(fig)


def powers_of_two(measured: Iterable[CostTable | Forecast]) -> list[int]:
    """The sizes that are ticks of an axis."""
    sizes: set[int] = set()
    for each in measured:
        sizes.update(each.sizes)
    return sorted(size for size in sizes if size.bit_count() == 1)


def plot_sizes(forecasts: Mapping[str, Forecast]) -> go.Figure:
    """Draw the predicted speedup of the best tree of each size, a line for each machine.

    Args:
        forecasts: name of the machine -> forecast.
    """
    fig = theme.figure("tree size (nodes, including the root)", "times as fast as plain decoding")
    for place, (name, predicted) in enumerate(forecasts.items()):
        best = [max(filter(None, row), key=lambda cell: cell.speedup) for row in predicted.cells]
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
        top = predicted.best
        fig.add_scatter(
            x=[top.size],
            y=[top.speedup],
            text=f"{top.size} nodes: {top.speedup:.1f} ×",
            textposition="top right",
            hoverinfo="skip",
            mode="markers+text",
            marker=style["marker"] | {"symbol": "star", "size": 16},
        )
    theme.plain_line(fig)
    theme.logarithmic("x", fig, powers_of_two(forecasts.values()))
    fig.update_yaxes(rangemode="tozero")
    return theme.label_lines(fig)


def plot_speedup(forecast: Forecast) -> go.Figure:
    """Draw the predicted speedup of every tree size and depth as a heat map, with the best cell
    marked."""
    best = forecast.best
    # The best tree may be less deep than the column that it stands in.
    depth = next(depth for depth in forecast.depths if depth >= best.depth)
    source = "projection for" if forecast.cost.projection else "costs of"
    verdict = f"Best {best.speedup:.2f} × at {best.size} nodes, {best.depth} levels"
    if best.speedup <= 1:
        verdict = f"Plain decoding is fastest. {verdict}"
    title = f"{verdict}<br>{source} {forecast.cost.machine}"
    fig = theme.figure("levels below the root", "tree size (nodes, including the root)", title)

    def rows_of(name: str) -> list[list[float | None]]:
        return [[getattr(cell, name, None) for cell in row] for row in forecast.cells]

    values = [cell.speedup for cell in forecast.trees]
    # The colour between the two ends is that of plain decoding, at 1.
    low = min(0.5, *values)
    high = max(1.5, *values)
    fig.add_heatmap(
        x=list(map(str, forecast.depths)),
        y=list(map(str, forecast.sizes)),
        z=rows_of("speedup"),
        customdata=rows_of("tokens_per_pass"),
        zmin=low,
        zmax=high,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        colorscale=[[0, theme.VERMILLION], [(1 - low) / (high - low), "#dddddd"], [1, theme.BLUE]],
        colorbar={"title": {"text": "speedup"}, "outlinewidth": 0},
        hovertemplate="%{y} nodes, %{x} levels: %{z:.2f} × plain decoding, "
        "%{customdata:.2f} tokens per target pass"
        "<extra></extra>",
    )
    fig.add_scatter(
        x=[str(depth)],
        y=[str(best.size)],
        mode="markers",
        hoverinfo="skip",
        showlegend=False,
        marker={
            "symbol": "star",
            "size": 15,
            "color": "#ffffff",
            "line": {"color": "#000000", "width": 1.5},
        },
    )
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig


def plot_predicted(
    points: Sequence[Point] | Mapping[str, Sequence[Point]],
    axis: str = "tree size (nodes, including the root)",
) -> go.Figure:
    """Draw predicted speedup as a line and measured speedup as marks with intervals.

    Args:
        points: timed configurations, of one machine or of each by its name.
        axis: what their `size` means, "temperature" say (Sequoia, figure 4).
    """
    groups = points if isinstance(points, Mapping) else {"": points}
    every = list(chain.from_iterable(groups.values()))
    if not every:
        return theme.empty("Nothing was timed.")
    # The worst of all points: a mean would hide it.
    worst = max(abs(point.measured / point.predicted - 1) for point in every)
    title = f"The largest prediction error is {100 * worst:.0f} %"
    fig = theme.figure(axis, "speedup (×) over plain decoding", title)
    for place, (machine, group) in enumerate(groups.items()):
        _add_predicted(fig, machine, place, sorted(group, key=lambda one: (one.size, one.name)))
    theme.plain_line(fig)
    if axis.startswith("tree size"):
        theme.logarithmic("x", fig, sorted({point.size for point in every}))
    fig.update_yaxes(rangemode="tozero")
    return theme.label_lines(fig)


def _add_predicted(fig: go.Figure, machine: str, place: int, points: Sequence[Point]) -> None:
    """Add one machine: its predictions as a line, what was timed as squares and, where that was
    slower than plain decoding, as crosses."""
    style = theme.machine_series(machine, place)
    fig.add_scatter(
        x=[point.size for point in points],
        y=[point.predicted for point in points],
        name=f"predicted {machine}".rstrip(),
        mode="lines+markers",
        line=style["line"],
        marker={"symbol": "circle-open", "size": 8},
        text=[point.name for point in points],
        hovertemplate="%{text}: %{y:.2f} predicted<extra></extra>",
    )
    # What does not pay has a mark of its own, whatever its colour.
    slower = [point for point in points if point.measured < 1]
    faster = [point for point in points if point.measured >= 1]
    for group, name, symbol in (
        (faster, "measured", "square"),
        (slower, "measured, slower than plain", "x"),
    ):
        if group:
            # The fields of a `Point`, of which the prediction is drawn as a line already.
            names, sizes, _, values, low, high = zip(*group, strict=True)
            fig.add_scatter(
                x=sizes,
                y=values,
                name=name,
                mode="markers",
                marker={"color": style["marker"]["color"], "symbol": symbol, "size": 9},
                text=names,
                error_y=theme.error_bars(values, low, high),
                hovertemplate="%{text}: %{y:.2f} measured<extra></extra>",
            )
