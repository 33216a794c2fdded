"""Predicted speedup of every tree size and depth, with the best cell marked: the hardware-aware choice."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..forecast import Forecast
from . import theme

TITLE = "Predicted speedup by tree size and depth"
HOW_TO_READ = (
    "Each cell is the best tree of that many nodes and levels on this machine: expected tokens over the predicted time "
    "of a step, with plain decoding as 1. Blue wins, orange loses, the star is the best; empty cells cannot be built."
)


class Info(NamedTuple):
    """The map: speedups [sizes][depths] (None where there is no tree), tokens in the same form, and the best cell."""

    sizes: tuple[int, ...]
    depths: tuple[int, ...]
    speedup: tuple[tuple[float | None, ...], ...]
    tokens: tuple[tuple[float | None, ...], ...]
    best_size: int
    best_depth: int
    best_speedup: float
    pays: bool
    machine: str
    projection: bool


def info(found: Forecast) -> Info:
    """The map of a forecast; columns are levels up to which a tree may go."""
    best = found.best
    column = next(depth for depth in found.depths if depth >= best.depth)
    return Info(
        found.sizes, found.depths,
        tuple(tuple(cell and cell.speedup for cell in row) for row in found.cells),
        tuple(tuple(cell and cell.tokens_per_pass for cell in row) for row in found.cells),
        best.size, column, best.speedup, best.speedup > 1, found.cost.machine, found.cost.projection,
    )  # fmt: skip


def draw(info: Info) -> go.Figure:
    source = f"projection for {info.machine}" if info.projection else f"from costs measured on {info.machine}"
    words = f"best {info.best_speedup:.2f} at {info.best_size} nodes, {info.best_depth} levels"
    words = words if info.pays else f"plain decoding wins, {words}"
    fig = theme.figure("levels below the root", "nodes of the tree, its root included", f"{TITLE}: {words}<br>{source}")
    x, y = list(map(str, info.depths)), list(map(str, info.sizes))
    values = [value for row in info.speedup for value in row if value is not None]
    low, high = min(0.5, *values), max(1.5, *values)
    colours = [[0, theme.VERMILLION], [(1 - low) / (high - low), "#dddddd"], [1, theme.BLUE]]
    fig.add_heatmap(
        x=x, y=y, z=info.speedup, customdata=info.tokens, name="speedup",
        zmin=low, zmax=high, xgap=1, ygap=1, hoverongaps=False, colorscale=colours,
        colorbar={"title": {"text": "times plain"}, "outlinewidth": 0},
        hovertemplate="%{y} nodes, %{x} levels: %{z:.2f} times plain, %{customdata:.2f} tokens a pass<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=[str(info.best_depth)], y=[str(info.best_size)], mode="markers", name="best",
        marker={"symbol": "star", "size": 15, "color": "#ffffff", "line": {"color": "#000000", "width": 1.5}},
        hoverinfo="skip", showlegend=False,
    )  # fmt: skip
    fig.update_xaxes(type="category")
    fig.update_yaxes(type="category")
    return fig
