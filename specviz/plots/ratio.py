"""The histogram of H(q, p) / H(q), with this pair's own c (SVIP, figure 3)."""

from __future__ import annotations

from statistics import median
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ..acceptance.on_nodes import DraftUncertainty
from . import theme

TITLE = "Cross entropy over entropy of the draft"
HOW_TO_READ = (
    "Histogram of the ratio H(q, p) / H(q). The narrower it is, the better the draft entropy predicts acceptance: SVIP "
    "assumes a constant ratio, 1 + 2 c. The line marks this pair's median."
)
LARGEST = 6.0


class Info(NamedTuple):
    """Edges [n + 1] and counts [n] of the bins, positions beyond the last edge, the median ratio, and c."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]
    beyond: int
    median: float | None
    c: float


def info(uncertainty: DraftUncertainty, bins: int = 40) -> Info:
    """The histogram of a measurement, from 0 to at most `LARGEST`."""
    ratios = uncertainty.ratios
    largest = min(LARGEST, max(ratios, default=1.0))
    counts, edges = np.histogram(ratios, bins=bins, range=(0, largest))
    beyond = sum(ratio > largest for ratio in ratios)
    return Info(
        tuple(edges.tolist()), tuple(counts.tolist()), beyond, median(ratios) if ratios else None, uncertainty.c
    )


def draw(info: Info) -> go.Figure:
    if info.median is None:
        return theme.empty("No measurement yet, or the draft entropy was always 0.")
    beyond = f", {info.beyond} positions beyond the right edge" if info.beyond else ""
    fig = theme.figure("H(q, p) / H(q)", "positions", f"{TITLE}: c = {info.c:.3g}{beyond}", bargap=0.05)
    middles = [(low + high) / 2 for low, high in zip(info.edges, info.edges[1:], strict=False)]
    fig.add_bar(
        x=middles, y=info.counts, marker={"color": theme.SKY}, name="positions", showlegend=False,
        hovertemplate="ratio %{x:.2f}: %{y} positions<extra></extra>",
    )  # fmt: skip
    fig.add_vline(
        x=info.median, line={"color": theme.VERMILLION, "dash": "dash"},
        annotation={"text": f"median {info.median:.2f}", "font": {"color": theme.VERMILLION}},
    )  # fmt: skip
    return fig
