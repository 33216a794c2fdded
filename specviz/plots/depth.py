"""Acceptance by depth and rank, from recorded runs."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.in_traces import DepthAcceptance
from . import theme

TITLE = "Acceptance by level and rank"
HOW_TO_READ = (
    "Each cell is the acceptance rate of the k-th child of accepted nodes at one level. If acceptance were independent "
    "of the level, all rows would be equal; differences between rows are not modelled by a single vector."
)


class Info(NamedTuple):
    """Levels from 1, ranks from 1, rates [levels][ranks] (None where nothing was tried), and labels with intervals."""

    levels: tuple[int, ...]
    ranks: tuple[int, ...]
    rates: tuple[tuple[float | None, ...], ...]
    labels: tuple[tuple[str, ...], ...]


def info(found: DepthAcceptance) -> Info:
    """The matrix of recorded runs."""
    labels = tuple(
        tuple(
            f"{hits} of {tried} accepted" + (f", [{cell[0]:.3f}, {cell[1]:.3f}]" if cell else "")
            if tried
            else "not tried"
            for hits, tried, cell in zip(*rows, strict=True)
        )
        for rows in zip(found.accepted, found.tried, found.intervals, strict=True)
    )
    ranks = len(found.tried[0]) if found.tried else 0
    return Info(tuple(range(1, len(found.tried) + 1)), tuple(range(1, ranks + 1)), found.rates, labels)


def draw(info: Info) -> go.Figure:
    if not info.levels:
        return theme.empty("No recorded run with a tree yet.")
    fig = theme.figure("k, rank of the child", "level of the child below the root", TITLE)
    fig.add_heatmap(
        x=info.ranks, y=info.levels, z=info.rates, text=info.labels, name="acceptance", zmin=0, xgap=1, ygap=1,
        colorscale=[[0, "#e6ebe9"], [1, theme.GREEN]], hoverongaps=False,
        colorbar={"title": {"text": "accepted"}, "outlinewidth": 0},
        texttemplate="%{z:.2f}" if len(info.ranks) <= 12 else None,
        hovertemplate="level %{y}, child %{x}: %{z:.3f} (%{text})<extra></extra>",
    )  # fmt: skip
    fig.update_yaxes(autorange="reversed", dtick=1)
    fig.update_xaxes(dtick=1 if len(info.ranks) <= 20 else 4)
    return fig
