"""Figures of acceptance: by rank, by level, by number of children, by draft probability."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from ..measure.in_traces import DepthAcceptance
from ..measure.on_nodes import DraftUncertainty, RejectionRates
from ..measure.on_text import Acceptance
from ..proof.bounds import fit_power_law
from . import theme


def plot_acceptance(vectors: Sequence[Acceptance]) -> go.Figure:
    """Draw acceptance vectors: the probability that the k-th child of an accepted node is accepted.

    Args:
        vectors: measured vectors, with intervals where they have them.
    """
    if not vectors:
        return theme.empty("No acceptance vector. Measure one with `specviz calibrate`.")
    fig = theme.figure("k, rank of the child among its siblings", "P[k], acceptance")
    rules = [vector.verifier for vector in vectors]
    for place, vector in enumerate(vectors):
        values = list(vector.acceptance)
        name = (
            f"{theme.rule_title(vector.verifier)}, T {vector.temperature:g}, sum {sum(values):.3f}"
        )
        bars = (
            theme.error_bars(values, vector.low, vector.high)
            if len(vector.low) == len(values)
            else None
        )
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
    reached = [sum(count >= k for count in accepted) for k in range(depth + 1)]
    positions = list(range(1, depth + 1))
    fig = theme.figure("position of the drafted token", "share accepted")
    shares = {
        "of those reached": [reached[k] / max(1, reached[k - 1]) for k in positions],
        "of all steps": [reached[k] / steps for k in positions],
        "of all drafted": [sum(accepted) / (depth * steps)] * depth,
    }
    for place, (name, share) in enumerate(shares.items()):
        theme.curve(fig, positions, share, name, theme.series(place), "token %{x}: %{y:.2f}")
    fig.update_xaxes(dtick=1)
    fig.update_yaxes(range=[0, 1.05])
    return theme.label_lines(fig)


def plot_depth(measured: DepthAcceptance) -> go.Figure:
    """Draw acceptance by level and rank as a heat map, counted in recorded runs."""
    if not measured.tried:
        return theme.empty("No recorded run has a tree.")
    labels = [
        [
            f"{hits} of {tried} accepted" if tried else "not tried"
            for hits, tried in zip(*rows, strict=True)
        ]
        for rows in zip(measured.accepted, measured.tried, strict=True)
    ]
    fig = theme.figure(
        "k, rank of the child", "level of the child below the root", "Acceptance by level and rank"
    )
    fig.add_heatmap(
        x=list(range(1, len(measured.tried[0]) + 1)),
        y=list(range(1, len(labels) + 1)),
        z=measured.rates,
        text=labels,
        zmin=0,
        xgap=1,
        ygap=1,
        hoverongaps=False,
        texttemplate="%{z:.2f}",
        colorscale=[[0, "#e6ebe9"], [1, theme.GREEN]],
        colorbar={"title": {"text": "accepted"}, "outlinewidth": 0},
        hovertemplate="level %{y}, child %{x}: %{z:.3f} (%{text})<extra></extra>",
    )
    fig.update_yaxes(autorange="reversed", dtick=1)
    fig.update_xaxes(dtick=1)
    return fig


def plot_rejection(measured: RejectionRates) -> go.Figure:
    """Draw the probability that all k children of a node are rejected, on log-log axes (Sequoia,
    figure 3)."""
    if not any(any(rates) for rates in measured.rates.values()):
        return theme.empty("No rejection was measured.")
    title = (
        f"Rejection rate, temperature {measured.temperature:g}, {measured.positions:,} positions"
    )
    fig = theme.figure("k, children of a node", "P(all k children rejected)", title)
    for rule, rates in measured.rates.items():
        columns = zip(measured.widths, rates, measured.low[rule], measured.high[rule], strict=True)
        points = [point for point in columns if point[1]]  # a log axis has no 0
        if points:
            widths, positive, low, high = zip(*points, strict=True)
            _, exponent = fit_power_law(widths, positive)
            name = theme.rule_title(rule) + (
                "" if math.isnan(exponent) else f" ~ k^-{exponent:.2f}"
            )
            bars, hover = theme.error_bars(positive, low, high), "%{x} children: %{y:.4f}"
            theme.curve(fig, widths, positive, name, theme.rule_series(rule), hover, error_y=bars)
    bound = [
        (width, rate)
        for width, rate in zip(measured.widths, measured.floors["iid"], strict=True)
        if rate
    ]
    if bound:
        x, y = zip(*bound, strict=True)
        theme.guide(fig, x, y, "lower bound for independent children (optimal transport)")
    theme.logarithmic("x", fig, measured.widths)
    theme.logarithmic("y", fig, [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1])
    return fig.update_layout(height=580)


def plot_probability(measured: DraftUncertainty, bins: int = 12) -> go.Figure:
    """Draw the target's probability and the acceptance of drafted tokens by draft probability
    (DySpec, figure 2)."""
    q, p = np.asarray(measured.draft_prob), np.asarray(measured.target_prob)
    if not q.size:
        return theme.empty("No position was measured.")
    fig = theme.figure("q, the draft's probability of the token", "probability")
    every = max(1, q.size // 2000)
    fig.add_scatter(
        x=q[::every],
        y=p[::every],
        name="p, the target's probability",
        mode="markers",
        marker={"color": theme.SKY, "size": 4, "opacity": 0.4},
        hovertemplate="q %{x:.3f}, p %{y:.3f}<extra></extra>",
    )
    theme.guide(fig, [0, 1], [0, 1], "p = q")
    order = np.argsort(q, kind="stable")
    parts = [part for part in np.array_split(order, bins) if part.size]
    accepted = np.minimum(1.0, p / q)
    theme.curve(
        fig,
        [q[part].mean() for part in parts],
        [accepted[part].mean() for part in parts],
        "mean acceptance probability, min(1, p / q)",
        theme.series(0),
        "q %{x:.3f}: accepted %{y:.3f}",
    )
    return fig
