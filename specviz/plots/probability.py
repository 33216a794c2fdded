"""The draft's probability of a token, its acceptance probability and the target's probability (DySpec, figure 2)."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.on_nodes import DraftUncertainty
from . import theme
from .draft_entropy import binned

TITLE = "Draft probability and acceptance"
HOW_TO_READ = (
    "Each dot is a drafted token with its draft probability q and target probability p. On or above the diagonal "
    "it is always accepted. The line is the mean acceptance probability, min(1, p / q): it rises with q, so dynamic "
    "trees grow where q is high."
)
MOST = 2000


class Info(NamedTuple):
    """Tokens (q, p, chance of acceptance) and bins (mean q, mean chance, how many)."""

    draft_prob: tuple[float, ...]
    target_prob: tuple[float, ...]
    accept_prob: tuple[float, ...]
    bins: tuple[tuple[float, float, int], ...]


def info(uncertainty: DraftUncertainty, bins: int = 12) -> Info:
    """The tokens of a measurement."""
    q, p = uncertainty.draft_prob, uncertainty.target_prob
    chance = tuple(min(1.0, above / below) for above, below in zip(p, q, strict=True))
    return Info(tuple(q), tuple(p), chance, binned(q, chance, bins))


def draw(info: Info) -> go.Figure:
    if not info.draft_prob:
        return theme.empty("No measurement yet. Calibrate on a text to see which tokens are accepted.")
    fig = theme.figure("q, the draft's probability of the token", "probability", TITLE)
    every = max(1, len(info.draft_prob) // MOST)
    fig.add_scatter(
        x=info.draft_prob[::every], y=info.target_prob[::every], name="p, the target's probability", mode="markers",
        marker={"color": theme.SKY, "size": 4, "opacity": 0.4}, hovertemplate="q %{x:.3f}, p %{y:.3f}<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=[0, 1], y=[0, 1], name="p = q", mode="lines", line={"color": theme.GREY, "dash": "dash"}, hoverinfo="skip"
    )
    x, y, count = zip(*info.bins, strict=True)
    fig.add_scatter(
        x=x, y=y, name="mean acceptance probability", mode="lines+markers", customdata=count,
        line={"color": theme.GREEN, "width": 2.5}, marker={"symbol": "square", "size": 8},
        hovertemplate="q %{x:.3f}: accepted %{y:.3f} of %{customdata} tokens<extra></extra>",
    )  # fmt: skip
    return fig
