"""Tree size and accepted tokens step by step (DySpec, figure 5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go

from ..trace import Trace
from . import theme

TITLE = "Drafted and accepted, step by step"
HOW_TO_READ = (
    "Grey bars: nodes drafted in a step. Green bars: tokens written, including the target's own. The dashed line is "
    "the mean, the dotted line the mean of the last 16 steps, which rises if a draft learns. A dynamic tree "
    "should be large where many tokens are accepted."
)


LATELY = 16  # steps


class Info(NamedTuple):
    """Per step: nodes drafted (root excluded), tokens accepted, written, recent mean; tokens written per step."""

    drafted: tuple[int, ...]
    accepted: tuple[int, ...]
    written: tuple[int, ...]
    lately: tuple[float, ...]
    mean_written: float


def info(trace: Trace) -> Info:
    """The strip of a run."""
    written = tuple(len(step.emitted) for step in trace.steps)
    return Info(
        tuple(step.drafted for step in trace.steps),
        tuple(len(step.path) for step in trace.steps),
        written,
        tuple(float(np.mean(written[max(0, end - LATELY) : end])) for end in range(1, len(written) + 1)),
        trace.tokens_per_pass if written else 0.0,
    )


def draw(info: Info) -> go.Figure:
    if not info.drafted:
        return theme.empty("This run has no steps.")
    fig = theme.figure("step", "tokens written", f"{TITLE}: {info.mean_written:.2f} tokens per step", barmode="overlay")
    steps = list(range(1, len(info.drafted) + 1))
    fig.add_bar(
        x=steps, y=info.drafted, name="nodes drafted (right axis)", marker={"color": theme.GREY}, opacity=0.35,
        yaxis="y2", hovertemplate="step %{x}: %{y} nodes drafted<extra></extra>",
    )  # fmt: skip
    fig.add_bar(
        x=steps, y=info.written, name="tokens written", marker={"color": theme.GREEN}, width=0.5,
        customdata=info.accepted,
        hovertemplate="step %{x}: %{customdata} accepted, %{y} written<extra></extra>",
    )  # fmt: skip
    fig.add_scatter(
        x=steps, y=info.lately, name=f"mean of the last {LATELY}", mode="lines",
        line={"color": theme.BLUE, "dash": "dot", "width": 2}, hovertemplate="step %{x}: mean %{y:.2f}<extra></extra>",
    )  # fmt: skip
    theme.rule_line(fig, info.mean_written, f"mean {info.mean_written:.2f}", theme.GREEN)
    fig.update_layout(
        yaxis2={
            "title": "nodes drafted", "overlaying": "y", "side": "right", "showgrid": False, "rangemode": "tozero",
            "automargin": True,
        }
    )  # fmt: skip
    return fig.update_yaxes(rangemode="tozero", selector={"title": {"text": "tokens written"}})
