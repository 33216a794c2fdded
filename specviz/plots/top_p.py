"""Tokens per pass against top-p, for each rule, with one tree for all (Sequoia, table 8)."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..benchmarks.studies import TopP
from . import theme

TITLE = "Tokens per target pass by top-p"
HOW_TO_READ = (
    "Top-p removes unlikely tokens from the distributions of both models before sampling. Each mark is the expected "
    "tokens per pass of the same tree under a rule; a robust rule has a horizontal line."
)


class Info(NamedTuple):
    """Top-p values, and for each rule its tokens per pass and how far they are apart from largest to smallest."""

    values: tuple[float, ...]
    tokens: dict[str, tuple[float, ...]]
    span: dict[str, float]
    nodes: int
    temperature: float


def info(found: TopP) -> Info:
    """The lines of a study, with (largest - smallest) / largest of each."""
    span = {rule: (max(line) - min(line)) / max(line) for rule, line in found.tokens.items() if line}
    return Info(found.values, found.tokens, span, found.nodes, found.temperature)


def draw(info: Info) -> go.Figure:
    if not info.values:
        return theme.empty("No measurement yet.")
    fig = theme.figure("top-p", f"expected tokens per target pass of a tree of {info.nodes} nodes", TITLE)
    for rule, line in info.tokens.items():
        name = f"{theme.titled(rule)}, range {100 * info.span[rule]:.0f} %"
        theme.curve(fig, info.values, line, name, theme.rule_series(rule), "top-p %{x}: %{y:.3f} tokens")
    return fig.update_yaxes(rangemode="tozero")
