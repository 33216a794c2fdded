"""Marginal gain of a node, as in figure 4 of the exponential-races paper, and its marginal cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..planning.cost_table import CostTable
from ..planning.forecast import marginal_values
from . import theme

TITLE = "Marginal gain and cost of a node"
HOW_TO_READ = (
    "Green: expected tokens gained by one more node. Orange: tokens that plain decoding writes in the time of that "
    "node. Larger trees are slower once orange, times the current speedup, exceeds green."
)


class Info(NamedTuple):
    """Nodes, tokens gained and tokens lost per further node, and the machine."""

    nodes: tuple[int, ...]
    gain: tuple[float, ...]
    cost: tuple[float, ...]
    machine: str
    projection: bool


def info(acceptance: tuple, cost: CostTable, sizes: Sequence[int], width: int = 32) -> Info:
    """The marginal values of the best trees of increasing size."""
    rows = marginal_values(acceptance, cost, sizes, width)
    nodes, gain, lost = zip(*rows, strict=True) if rows else ((), (), ())
    return Info(nodes, gain, lost, cost.machine, cost.projection)


def draw(info: Info) -> go.Figure:
    if not info.nodes:
        return theme.empty("Choose at least two tree sizes.")
    source = f"projection for {info.machine}" if info.projection else f"from costs measured on {info.machine}"
    fig = theme.figure("tree size (nodes, including the root)", "tokens per further node", f"{TITLE}, {source}")
    for place, (name, values) in enumerate((("tokens gained", info.gain), ("tokens lost to its time", info.cost))):
        theme.curve(fig, info.nodes, values, name, theme.series(place), "up to %{x} nodes: %{y:.4f}")
    theme.logarithmic("x", fig, info.nodes)
    return fig
