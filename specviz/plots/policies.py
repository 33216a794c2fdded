"""Drafted and accepted length by length policy, on several kinds of text (SVIP, figure 5)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..trace import Trace
from . import theme

TITLE = "Drafted and accepted length by policy"
HOW_TO_READ = (
    "For each policy and kind of text, the whole bar is the mean number of drafted tokens per step, the filled part "
    "the accepted ones, with their share above. A good policy has few rejected tokens and long accepted paths."
)


class Bar(NamedTuple):
    """One policy on one kind of text: means over steps, accepted over drafted, and how many steps."""

    policy: str
    kind: str
    drafted: float
    accepted: float
    share: float
    steps: int


class Info(NamedTuple):
    """The bars, kind by kind."""

    bars: tuple[Bar, ...]


def info(runs: Mapping[tuple[str, str], Sequence[Trace]]) -> Info:
    """The bars of recorded runs.

    Args:
        runs: (policy, kind of text) -> its runs; only steps that drafted something count.
    """
    bars = []
    for (policy, kind), traces in runs.items():
        steps = [step for trace in traces for step in trace.steps if len(step.parents) > 1]
        if steps:
            drafted = sum(step.drafted for step in steps)
            accepted = sum(len(step.path) for step in steps)
            count = len(steps)
            bars.append(Bar(policy, kind, drafted / count, accepted / count, accepted / drafted, count))
    return Info(tuple(sorted(bars, key=lambda bar: bar.kind)))


def draw(info: Info) -> go.Figure:
    if not info.bars:
        return theme.empty("No runs yet: decode some prompts with each policy to compare their lengths.")
    fig = theme.figure("kind of text and policy", "tokens per step", TITLE, barmode="overlay")
    places = [f"{bar.kind}: {theme.titled(bar.policy)}" for bar in info.bars]
    fig.add_bar(
        x=places, y=[bar.drafted for bar in info.bars], name="drafted", marker={"color": "rgba(138,143,152,0.4)"},
        text=[f"{100 * bar.share:.0f} %" for bar in info.bars], textposition="outside", constraintext="none",
        textfont={"color": theme.TEXT}, cliponaxis=False,
        hovertemplate="%{y:.2f} drafted",
    )  # fmt: skip
    fig.add_bar(
        x=places, y=[bar.accepted for bar in info.bars], name="accepted", marker={"color": theme.GREEN},
        hovertemplate="%{y:.2f} accepted",
    )  # fmt: skip
    return fig
