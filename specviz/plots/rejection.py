"""Rejection rate against the number of children, on log-log axes (Sequoia, figure 3)."""

from __future__ import annotations

import math
from typing import NamedTuple

import plotly.graph_objects as go

from ..acceptance.on_nodes import RejectionRates
from ..theory.bounds import fit_power_law
from . import theme

TITLE = "Rejection rate by number of children"
HOW_TO_READ = (
    "Each line is the probability that all k children of a node are rejected; lower is better. A straight line is a "
    "power law; the legend shows its exponent. The dashed line is the optimal-transport lower bound of lossless rules "
    "for independent children."
)
FLOORS = {"iid": "lower bound for independent children (optimal transport)", "top": "lower bound for the draft's top k"}


class Curve(NamedTuple):
    """One rule, or several with the very same rates: widths and rates above 0 (a log axis has no 0), intervals, and the
    law scale * k^(-exponent)."""

    name: str
    widths: tuple[int, ...]
    rates: tuple[float, ...]
    low: tuple[float | None, ...]
    high: tuple[float | None, ...]
    scale: float
    exponent: float
    method: str


class Info(NamedTuple):
    """Curves of the rules, floors by name, and how many positions were measured at which temperature."""

    curves: tuple[Curve, ...]
    floors: dict[str, tuple[tuple[int, ...], tuple[float, ...]]]
    positions: int
    temperature: float


def info(found: RejectionRates) -> Info:
    """The curves of a measurement."""
    curves: list[Curve] = []
    for rule, rates in found.rates.items():
        points = [
            (width, rate, low, high)
            for width, rate, low, high in zip(found.widths, rates, found.low[rule], found.high[rule], strict=True)
            if rate
        ]
        if points:
            widths, shares, lows, highs = zip(*points, strict=True)
            same = [place for place, curve in enumerate(curves) if (curve.widths, curve.rates) == (widths, shares)]
            if same:  # rules that come to the same share one line
                curves[same[0]] = curves[same[0]]._replace(name=f"{curves[same[0]].name}, {rule}")
            else:
                law = fit_power_law(widths, shares)
                curves.append(Curve(rule, widths, shares, lows, highs, *law, found.methods[rule]))
    floors: dict[str, tuple[tuple[int, ...], tuple[float, ...]]] = {}
    for name, rates in found.floors.items():
        kept = [(width, rate) for width, rate in zip(found.widths, rates, strict=True) if rate]
        floors[name] = tuple(width for width, _ in kept), tuple(rate for _, rate in kept)
    return Info(tuple(curves), floors, found.positions, found.temperature)


def draw(info: Info) -> go.Figure:
    if not info.curves:
        return theme.empty("No rejections or no measurement yet. Calibrate on a text first.")
    title = f"{TITLE}, temperature {info.temperature:g}, {info.positions:,} positions"
    fig = theme.figure("k, children of a node", "P(all k children rejected)", title)
    for curve in info.curves:
        law = "" if math.isnan(curve.exponent) else f" ~ k^-{curve.exponent:.2f}"
        look, name = theme.rule_series(curve.name.partition(",")[0]), theme.titled(curve.name)
        hover = f"{name}, %{{x}} children: %{{y:.4f}} ({curve.method})<extra></extra>"
        bars = theme.error_bars(curve.rates, curve.low, curve.high)
        theme.curve(fig, curve.widths, curve.rates, f"{name}{law}", look, hover, error_y=bars)
        if not math.isnan(curve.exponent):
            ends = [curve.widths[0], curve.widths[-1]]
            fig.add_scatter(
                x=ends, y=[curve.scale * width**-curve.exponent for width in ends], mode="lines", showlegend=False,
                name=f"{name}, fitted", line={"color": look["line"]["color"], "dash": "dot", "width": 1},
                hoverinfo="skip", opacity=0.6,
            )  # fmt: skip
    for name, (widths, rates) in info.floors.items():
        if widths and name == "iid":  # target match is its own floor: that line is drawn already
            theme.guide(fig, widths, rates, FLOORS[name], "bound, %{x} children: %{y:.4f}")
    theme.logarithmic("x", fig, sorted({width for curve in info.curves for width in curve.widths}))
    theme.logarithmic("y", fig, [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1])
    return fig.update_layout(height=580)
