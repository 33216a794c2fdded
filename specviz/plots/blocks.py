"""Blocks of the attention mask by tree size and order (DySpec, appendix C, table 5)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..theory.mask_order import ORDERS, count_blocks, fewest_blocks
from ..tree import Topology
from . import theme

TITLE = "Blocks of the attention mask by tree size"
HOW_TO_READ = (
    "Number of non-empty blocks of the mask, which a kernel must compute. Node orders that keep paths together leave "
    "most of the lower triangle empty, especially for large trees. The dotted line is a lower bound for any "
    "order."
)


class Info(NamedTuple):
    """Blocks that are not empty by order, one count a tree, with the lower bound and the whole lower triangle."""

    block: int
    nodes: tuple[int, ...]
    counts: dict[str, tuple[int, ...]]
    fewest: tuple[int, ...]
    triangle: tuple[int, ...]


def info(shapes: Sequence[Topology], block: int = 32) -> Info:
    """Counts for some trees.

    Args:
        shapes: the trees, smallest first.
        block: rows and columns of a block.
    """
    rows = [-(-len(shape) // block) for shape in shapes]
    return Info(
        block,
        tuple(map(len, shapes)),
        {name: tuple(count_blocks(shape, order(shape), block) for shape in shapes) for name, order in ORDERS.items()},
        tuple(fewest_blocks(shape, block) for shape in shapes),
        tuple(row * (row + 1) // 2 for row in rows),
    )


def draw(info: Info) -> go.Figure:
    if not info.nodes:
        return theme.empty("Choose trees to see their number of blocks.")
    fig = theme.figure("tree size (nodes, including the root)", f"blocks of {info.block} x {info.block}", TITLE)
    curves = dict(info.counts)
    if curves["as drawn"] == curves["breadth-first"]:
        del curves["as drawn"]
    for name, counts in curves.items():
        theme.curve(fig, info.nodes, counts, name, theme.series(list(ORDERS).index(name)), "%{x} nodes: %{y} blocks")
    for name, counts, dash in (("lower triangle", info.triangle, "dash"), ("lower bound", info.fewest, "dot")):
        theme.guide(fig, info.nodes, counts, name, f"{name}, %{{x}} nodes: %{{y}} blocks", dash)
    theme.logarithmic("x", fig, info.nodes)
    theme.logarithmic("y", fig, [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000])
    return fig
