"""What the next node brings, as in figure 4 of the exponential-races paper, against what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..planning.cost_table import CostTable
from ..planning.forecast import marginal_values
from . import theme

TITLE = "What the next node brings and costs"
HOW_TO_READ = (
    "Green is how many tokens one more node is expected to add, orange how many tokens plain decoding would have "
    "written in the time it takes. Once orange is above green by more than the step earns, larger trees are slower."
)


class Info(NamedTuple):
    """Nodes, tokens gained and tokens lost per further node, and the machine."""

    nodes: tuple[int, ...]
    gain: tuple[float, ...]
    cost: tuple[float, ...]
    machine: str
    projection: bool


def info(acceptance: tuple, cost: CostTable, sizes: Sequence[int], width: int = 32) -> Info:
    """The marginal values of the best trees of rising sizes."""
    rows = marginal_values(acceptance, cost, sizes, width)
    nodes, gain, lost = zip(*rows, strict=True) if rows else ((), (), ())
    return Info(nodes, gain, lost, cost.machine, cost.projection)


def draw(info: Info) -> go.Figure:
    if not info.nodes:
        return theme.empty("Choose at least two tree sizes to see what lies between them.")
    source = f"projection for {info.machine}" if info.projection else f"from costs measured on {info.machine}"
    fig = theme.figure("nodes of the tree, its root included", "tokens per further node", f"{TITLE}, {source}")
    for place, (name, values) in enumerate((("tokens gained", info.gain), ("tokens lost in its time", info.cost))):
        fig.add_scatter(
            x=info.nodes, y=values, name=name, mode="lines+markers", **theme.series(place),
            hovertemplate="up to %{x} nodes: %{y:.4f}",
        )  # fmt: skip
    theme.logarithmic("x", fig, info.nodes)
    return fig
