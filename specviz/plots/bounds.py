"""SVIP's lower bounds and the acceptance, positions sorted by acceptance (SVIP, figure 4)."""

from __future__ import annotations

from math import isfinite
from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.on_nodes import DraftUncertainty
from ..theory.bounds import bretagnolle_huber_bound, entropy_estimate, pinsker_bound
from . import theme

TITLE = "Acceptance and its lower bounds"
HOW_TO_READ = (
    "Positions sorted from highest to lowest acceptance. Pinsker's and Bretagnolle-Huber's bounds use the target and "
    "are never above the acceptance; the estimate uses only the draft and may be above it. A bound below 0 is vacuous."
)
MOST = 600


class Info(NamedTuple):
    """Columns over positions in order of falling acceptance, and how often the estimate is above the acceptance."""

    acceptance: tuple[float, ...]
    pinsker: tuple[float, ...]
    bretagnolle_huber: tuple[float, ...]
    estimate: tuple[float, ...]
    c: float
    overestimated: float


def info(uncertainty: DraftUncertainty, c: float | None = None) -> Info:
    """The columns of a measurement; `c` is the factor of the estimate, None for the pair's own."""
    c = uncertainty.c if c is None else c
    rows = []
    for acceptance, entropy, cross in zip(
        uncertainty.acceptance, uncertainty.entropy, uncertainty.cross_entropy, strict=True
    ):
        kl = max(0.0, cross - entropy)
        pinsker = max(0.0, pinsker_bound(kl)) if isfinite(kl) else 0.0
        below = bretagnolle_huber_bound(kl) if isfinite(kl) else 0.0
        rows.append((acceptance, pinsker, below, max(0.0, entropy_estimate(entropy, c))))
    rows.sort(key=lambda row: -row[0])
    above = sum(row[3] > row[0] for row in rows) / len(rows) if rows else 0.0
    acceptances, pinskers, belows, estimates = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Info(acceptances, pinskers, belows, estimates, c, above)


def draw(info: Info) -> go.Figure:
    if not info.acceptance:
        return theme.empty("No measurement yet. Calibrate on a text to see how tight the bounds are.")
    title = f"{TITLE}; the estimate is too high at {100 * info.overestimated:.0f} % of positions"
    fig = theme.figure("positions, sorted by acceptance", "acceptance probability of a drafted token", title)
    every = max(1, len(info.acceptance) // MOST)
    places = list(range(1, len(info.acceptance) + 1))[::every]
    for name, values, colour, mark in (
        (f"1 - sqrt(c H), c = {info.c:.3g}", info.estimate, theme.PURPLE, "cross"),
        ("Bretagnolle-Huber", info.bretagnolle_huber, theme.SKY, "circle"),
        ("Pinsker", info.pinsker, theme.ORANGE, "diamond"),
    ):
        fig.add_scatter(
            x=places, y=values[::every], name=name, mode="markers",
            marker={"color": colour, "symbol": mark, "size": 4, "opacity": 0.6}, hovertemplate="%{y:.3f}",
        )  # fmt: skip
    fig.add_scatter(
        x=places, y=info.acceptance[::every], name="acceptance, 1 - TV", mode="lines",
        line={"color": theme.GREEN, "width": 2.5}, hovertemplate="%{y:.3f}",
    )  # fmt: skip
    return fig
