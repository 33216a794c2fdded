"""Figures of speed: the cost of a pass, the map of trees, predicted and measured speedup."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from ..measure.cost_table import CostTable
from ..measure.forecast import Forecast
from . import theme
from .measurement import Point


def plot_cost(tables: Mapping[str, CostTable]) -> go.Figure:
    """Draw the time of one target pass over n nodes, relative to a pass over one node, for several
    machines.

    Args:
        tables: name -> costs; a projection is drawn dashed.
    """
    fig = theme.figure("n, nodes in the tree", "time / time for one node")
    for place, (name, table) in enumerate(tables.items()):
        unit, scale = table.shown_in
        times = [second / table.target_s[0] for second in table.target_s]
        spread = table.spread.get("target")
        low, high = zip(*spread, strict=True) if spread else (table.target_s, table.target_s)
        bars = theme.error_bars(
            times,
            [end / table.target_s[0] for end in low],
            [end / table.target_s[0] for end in high],
        )
        label = f"{name}: {scale * table.target_s[0]:.3g} {unit} for one node"
        style = theme.series(place)
        style["line"]["dash"] = "dash" if table.projection else "solid"
        theme.curve(fig, table.sizes, times, label, style, "%{x} nodes: %{y:.2f} ×", error_y=bars)
    theme.logarithmic(
        "x", fig, sorted({n for table in tables.values() for n in table.sizes if n & (n - 1) == 0})
    )
    theme.logarithmic("y", fig, [1, 2, 5, 10, 20, 50, 100])
    return fig


def plot_speedup(forecast: Forecast) -> go.Figure:
    """Draw the predicted speedup of every tree size and depth as a heat map, with the best cell
    marked."""
    best = forecast.best
    depth = next(depth for depth in forecast.depths if depth >= best.depth)
    source = "projection for" if forecast.cost.projection else "costs of"
    verdict = f"Best {best.speedup:.2f} × at {best.size} nodes, {best.depth} levels"
    if best.speedup <= 1:
        verdict = f"Plain decoding is fastest. {verdict}"
    title = f"{verdict}<br>{source} {forecast.cost.machine}"
    fig = theme.figure("levels below the root", "tree size (nodes, including the root)", title)
    rows = [[None if cell is None else cell.speedup for cell in row] for row in forecast.cells]
    tokens = [
        [None if cell is None else cell.tokens_per_pass for cell in row] for row in forecast.cells
    ]
    values = [value for row in rows for value in row if value is not None]
    low, high = min(0.5, *values), max(1.5, *values)
    fig.add_heatmap(
        x=list(map(str, forecast.depths)),
        y=list(map(str, forecast.sizes)),
        z=rows,
        customdata=tokens,
        zmin=low,
        zmax=high,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        colorscale=[[0, theme.VERMILLION], [(1 - low) / (high - low), "#dddddd"], [1, theme.BLUE]],
        colorbar={"title": {"text": "speedup"}, "outlinewidth": 0},
        hovertemplate="%{y} nodes, %{x} levels: %{z:.2f} × plain decoding, %{customdata:.2f} tokens per "
        "target pass"
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
    points: Sequence[Point], axis: str = "tree size (nodes, including the root)"
) -> go.Figure:
    """Draw predicted speedup as a line and measured speedup as marks with intervals.

    Args:
        points: timed configurations.
        axis: what their `size` means, "temperature" say (Sequoia, figure 4).
    """
    if not points:
        return theme.empty("Nothing was timed.")
    points = sorted(points, key=lambda point: (point.size, point.name))
    worst = max(abs(point.measured / point.predicted - 1) for point in points)
    fig = theme.figure(
        axis,
        "speedup (×) over plain decoding",
        f"The largest prediction error is {100 * worst:.0f} %",
    )
    names = [point.name for point in points]
    fig.add_scatter(
        x=[point.size for point in points],
        y=[point.predicted for point in points],
        name="predicted",
        mode="lines+markers",
        line={"color": theme.SKY},
        marker={"symbol": "circle-open", "size": 8},
        text=names,
        hovertemplate="%{text}: %{y:.2f} predicted<extra></extra>",
    )
    for slower, name, colour, symbol in (
        (False, "measured", theme.GREEN, "square"),
        (True, "measured, slower than plain", theme.VERMILLION, "x"),
    ):
        group = [point for point in points if (point.measured < 1) == slower]
        if group:
            values = [point.measured for point in group]
            fig.add_scatter(
                x=[point.size for point in group],
                y=values,
                name=name,
                mode="markers",
                marker={"color": colour, "symbol": symbol, "size": 9},
                text=[point.name for point in group],
                error_y=theme.error_bars(
                    values, [point.low for point in group], [point.high for point in group]
                ),
                hovertemplate="%{text}: %{y:.2f} measured<extra></extra>",
            )
    fig.add_hline(
        y=1.0,
        line={"color": theme.GREY, "dash": "dash", "width": 1.2},
        annotation_position="top left",
        annotation={
            "text": "plain decoding",
            "font": {"size": 11, "color": theme.TEXT},
            "yshift": 5,
        },
    )
    if axis.startswith("tree size"):
        theme.logarithmic("x", fig, sorted({point.size for point in points}))
    fig.update_yaxes(rangemode="tozero")
    return fig
