"""Figures of acceptance: by rank of a child, and by position in a chain."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ..record.vectors import AcceptanceVector
from . import theme


def plot_acceptance(vectors: Sequence[AcceptanceVector]) -> go.Figure:
    """Draw acceptance vectors: the probability that the k-th child of an accepted node is accepted.

    Args:
        vectors: measured vectors, with intervals where they have them.
    """
    if not vectors:
        raise ValueError("There is no acceptance vector. Measure one with `specviz calibrate`.")
    fig = theme.figure("k, rank of the guess for one token", "share accepted, P[k]")
    rules = [vector.verifier for vector in vectors]
    for place, vector in enumerate(vectors):
        values = list(vector.acceptance)
        name = (
            f"{theme.rule_title(vector.verifier)}, T {vector.temperature:g}, sum {sum(values):.3f}"
        )
        bars = None
        if vector.low:
            bars = theme.error_bars(values, vector.low, vector.high)
        # A rule at two temperatures has one colour and two dashes.
        style = theme.rule_series(vector.verifier, rules[:place].count(vector.verifier))
        ranks = list(range(1, len(values) + 1))
        theme.curve(fig, ranks, values, name, style, "child %{x}: %{y:.4f}", error_y=bars)
    fig.update_xaxes(
        range=[0.5, min(12, max(len(vector.acceptance) for vector in vectors)) + 0.5], dtick=1
    )
    fig.update_yaxes(rangemode="tozero")
    return fig


def plot_positions(accepted: Sequence[int], depth: int = 5) -> go.Figure:
    """Draw what "acceptance" can mean in runs of a chain, by the position of the drafted token.

    Args:
        accepted: of each step, how many of its drafted tokens were accepted.
        depth: drafted tokens of a step.
    """
    steps = len(accepted)
    # reached[k]: how many steps accepted k tokens or more, so reached[0] is all of them.
    # From all steps downwards, so that each position is a part of the one before.
    reached = [sum(count >= k for count in accepted) for k in range(depth + 1)]
    positions = list(range(1, depth + 1))
    fig = theme.figure("position of the guess in the chain", "share accepted")
    shares = {
        "of guesses tried": [reached[k] / max(1, reached[k - 1]) for k in positions],
        "of all steps": [reached[k] / steps for k in positions],
        "of all guesses": [sum(accepted) / (depth * steps)] * depth,
    }
    for place, (name, share) in enumerate(shares.items()):
        theme.curve(fig, positions, share, name, theme.series(place), "token %{x}: %{y:.2f}")
    fig.update_xaxes(tickvals=positions)
    fig.update_yaxes(range=[0, 1.05])
    return theme.label_lines(fig)
