"""Draft entropy and acceptance, with SVIP's estimate (SVIP, figure 2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ..acceptance.on_nodes import DraftUncertainty
from ..theory.bounds import entropy_estimate
from . import theme

TITLE = "Draft entropy and acceptance"
HOW_TO_READ = (
    "Each dot is a position of the text: the lower the draft entropy (left), the higher the acceptance. The line "
    "joins the means of bins with equal counts; the curves are 1 - sqrt(c H), SVIP's stopping criterion, with the "
    "authors' c and this pair's c."
)
AUTHORS_C = 0.15
AXES = {
    "acceptance": "1 - TV, acceptance probability of a drafted token",
    "accepted_length": "expected accepted tokens of a chain drafted here",
}
TITLES = {"acceptance": TITLE, "accepted_length": "Draft entropy and accepted length"}


class Info(NamedTuple):
    """Dots, bins (mean entropy, mean of the other axis, how many), estimates by c as points, and the pair's own c."""

    against: str
    entropy: tuple[float, ...]
    value: tuple[float, ...]
    bins: tuple[tuple[float, float, int], ...]
    estimates: dict[float, tuple[tuple[float, float], ...]]
    c: float


def info(uncertainty: DraftUncertainty, against: str = "acceptance", bins: int = 12) -> Info:
    """What is drawn of a measurement.

    Args:
        doubt: columns over positions.
        against: "acceptance" or "accepted_length".
        bins: how many bins hold the positions in equal parts.
    """
    known = [
        pair for pair in zip(uncertainty.entropy, getattr(uncertainty, against), strict=True) if pair[1] is not None
    ]
    x, y = zip(*known, strict=True) if known else ((), ())
    estimates = {}
    if against == "acceptance" and x:
        grid = np.linspace(0, max(x), 80).tolist()
        for c in sorted({AUTHORS_C, round(uncertainty.c, 3)}):
            points = ((h, entropy_estimate(h, c)) for h in grid)
            estimates[c] = tuple((h, estimate) for h, estimate in points if estimate >= 0)
    return Info(against, tuple(x), tuple(y), binned(x, y, bins), estimates, uncertainty.c)


def binned(x: Sequence[float], y: Sequence[float], bins: int) -> tuple[tuple[float, float, int], ...]:
    """(mean x, mean y, count) of bins that hold equally many points in order of x."""
    order = np.argsort(x, kind="stable")
    parts = [part for part in np.array_split(order, bins) if len(part)]
    return tuple((float(np.take(x, part).mean()), float(np.take(y, part).mean()), len(part)) for part in parts)


def draw(info: Info) -> go.Figure:
    if not info.entropy:
        return theme.empty("No measurement yet. Calibrate on a text to see draft entropy and acceptance.")
    fig = theme.figure("H(q), entropy of the draft distribution (nats)", AXES[info.against], TITLES[info.against])
    theme.dots(fig, info.entropy, info.value, "positions", "H %{x:.2f}: %{y:.3f}<extra></extra>")
    hover = "H %{x:.2f}: mean %{y:.3f} of %{customdata} positions<extra></extra>"
    theme.means(fig, info.bins, "mean of a bin", hover)
    for place, (c, points) in enumerate(info.estimates.items()):
        x, y = zip(*points, strict=True)
        whose = "SVIP's c" if c == AUTHORS_C else "this pair's c"
        fig.add_scatter(
            x=x, y=y, name=f"1 - sqrt(c H), {whose} = {c:g}", mode="lines",
            line={"color": (theme.VERMILLION, theme.PURPLE)[place % 2], "dash": ("dash", "dot")[place % 2]},
            hoverinfo="skip",
        )  # fmt: skip
    return fig
