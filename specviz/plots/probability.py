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
    hover = "q %{x:.3f}, p %{y:.3f}<extra></extra>"
    theme.dots(fig, info.draft_prob, info.target_prob, "p, the target's probability", hover)
    theme.guide(fig, [0, 1], [0, 1], "p = q")
    hover = "q %{x:.3f}: accepted %{y:.3f} of %{customdata} tokens<extra></extra>"
    theme.means(fig, info.bins, "mean acceptance probability", hover)
    return fig
