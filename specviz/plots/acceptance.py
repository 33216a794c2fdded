"""Acceptance vectors: how likely the k-th child of a node is the accepted one, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.on_text import Acceptance
from . import theme

TITLE = "Acceptance by rank"
HOW_TO_READ = (
    "Each mark is the chance that the k-th child of a node is accepted once its parent is; a steep fall means that a "
    "chain does nearly as well as a tree, a long tail that wide trees pay. Bars are 95 % intervals over texts."
)


class Vector(NamedTuple):
    """One vector: ranks from 1, chances, and their intervals."""

    name: str
    ranks: tuple[int, ...]
    chance: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]


class Info(NamedTuple):
    """The vectors, and for each what all its ranks accept together."""

    vectors: tuple[Vector, ...]
    totals: tuple[float, ...]


def info(measured: Sequence[Acceptance]) -> Info:
    """The vectors of measurements, named by rule and temperature."""
    vectors = tuple(
        Vector(
            f"{one.verifier}, T {one.temperature:g} ({one.method})",
            tuple(range(1, len(one.acceptance) + 1)),
            tuple(one.acceptance), tuple(one.low), tuple(one.high),
        )
        for one in measured
    )  # fmt: skip
    return Info(vectors, tuple(sum(vector.chance) for vector in vectors))


def draw(info: Info) -> go.Figure:
    if not info.vectors:
        return theme.empty("Nothing measured yet: calibrate on a text to see how often each child is accepted.")
    fig = theme.figure("k, rank of the child among its siblings", "P[k], chance that it is accepted", TITLE)
    for place, (vector, total) in enumerate(zip(info.vectors, info.totals, strict=True)):
        fig.add_scatter(
            x=vector.ranks, y=vector.chance, name=f"{vector.name}, all together {total:.3f}", mode="lines+markers",
            error_y=theme.error_bars(vector.chance, vector.low, vector.high), **theme.series(place),
            hovertemplate="child %{x}: %{y:.4f}",
        )  # fmt: skip
    fig.update_yaxes(rangemode="tozero")
    return fig
