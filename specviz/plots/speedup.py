"""Predicted speedup of every tree size and depth, with the best cell marked: the hardware-aware choice."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..planning.forecast import Forecast
from . import theme

TITLE = "Predicted speedup by tree size and depth"
HOW_TO_READ = (
    "Each cell is the best tree with that many nodes and levels on the machine named above: expected tokens / "
    "predicted time per step, relative to plain decoding. Blue is faster, orange is slower, the star is the best; "
    "empty cells have no tree."
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
        tuple(tuple(None if cell is None else cell.speedup for cell in row) for row in found.cells),
        tuple(tuple(None if cell is None else cell.tokens_per_pass for cell in row) for row in found.cells),
        best.size, column, best.speedup, best.speedup > 1, found.cost.machine, found.cost.projection,
    )  # fmt: skip


def draw(info: Info) -> go.Figure:
    source = f"projection for {info.machine}" if info.projection else f"from costs measured on {info.machine}"
    levels = f"{info.best_depth} level{'s' * (info.best_depth > 1)}"
    words = f"best {info.best_speedup:.2f} at {info.best_size} nodes, {levels}"
    words = words if info.pays else f"plain decoding is fastest, {words}"
    fig = theme.figure(
        "levels below the root", "tree size (nodes, including the root)", f"{TITLE}: {words}<br>{source}"
    )
    theme.speedup_map(fig, info.depths, info.sizes, info.speedup, info.tokens, "%{y} nodes, %{x} levels")
    return theme.star(fig, info.best_depth, info.best_size)
