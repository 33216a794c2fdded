"""Predicted speedup of k sequences by their number and length (Sequoia, tables 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..planning.cost_table import CostTable
from ..planning.forecast import sweep_sequences
from . import theme

TITLE = "k sequences by number and length"
HOW_TO_READ = (
    "Each cell is a number of independent sequences of a given length on the machine named above, relative to plain "
    "decoding. Blue is faster, orange is slower; the star is the best. Compare it with the best tree of the other map."
)
MOST = 1024


class Info(NamedTuple):
    """Speedups and tokens per pass [widths][lengths] (None beyond 1024 nodes), and the best cell."""

    widths: tuple[int, ...]
    lengths: tuple[int, ...]
    speedup: tuple[tuple[float | None, ...], ...]
    tokens: tuple[tuple[float | None, ...], ...]
    best_width: int
    best_length: int
    best_speedup: float
    machine: str
    projection: bool


def info(acceptance: tuple, cost: CostTable, widths: Sequence[int], lengths: Sequence[int]) -> Info:
    """The sweep for an acceptance vector on a machine; at least one cell must have fewer than 1024 nodes."""
    cells = sweep_sequences(acceptance, cost, widths, lengths, MOST)
    best, width, length = max(
        (cell.speedup, width, length)
        for width, row in zip(widths, cells, strict=True)
        for length, cell in zip(lengths, row, strict=True)
        if cell
    )
    return Info(
        tuple(widths), tuple(lengths),
        tuple(tuple(None if cell is None else cell.speedup for cell in row) for row in cells),
        tuple(tuple(None if cell is None else cell.tokens_per_pass for cell in row) for row in cells),
        width, length, best, cost.machine, cost.projection,
    )  # fmt: skip


def draw(info: Info) -> go.Figure:
    source = f"projection for {info.machine}" if info.projection else f"from costs measured on {info.machine}"
    words = f"best {info.best_speedup:.2f} with {info.best_width} of {info.best_length} tokens"
    fig = theme.figure("tokens of each sequence", "sequences", f"{TITLE}: {words}<br>{source}")
    theme.speedup_map(fig, info.lengths, info.widths, info.speedup, info.tokens, "%{y} sequences of %{x} tokens")
    return theme.star(fig, info.best_length, info.best_width)
