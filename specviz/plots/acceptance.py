"""Acceptance vectors: the acceptance probability of the k-th child of a node, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.on_text import Acceptance
from . import theme

TITLE = "Acceptance by rank"
HOW_TO_READ = (
    "Each mark is the probability that the k-th child of a node is accepted, given that its parent is. If it falls "
    "steeply, a chain is almost as good as a tree; with a long tail, wide trees are better. Error bars: 95 % CI "
    "across texts."
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
        return theme.empty("No measurement yet. Calibrate on a text to see the acceptance of each child.")
    fig = theme.figure("k, rank of the child among its siblings", "P[k], acceptance probability", TITLE)
    rules = [vector.name.partition(",")[0] for vector in info.vectors]
    for place, (vector, total) in enumerate(zip(info.vectors, info.totals, strict=True)):
        look = theme.rule_series(rules[place], rules[:place].count(rules[place]))
        bars = theme.error_bars(vector.chance, vector.low, vector.high)
        name = f"{theme.titled(vector.name)}, sum {total:.3f}"
        theme.curve(fig, vector.ranks, vector.chance, name, look, "child %{x}: %{y:.4f}", error_y=bars)
    fig.update_yaxes(rangemode="tozero")
    return fig
