"""A whole run as a ribbon: every token by its origin, with the totals of the run."""

from __future__ import annotations

from typing import NamedTuple

import plotly.graph_objects as go

from ..metrics import known
from ..trace import Trace
from . import theme

TITLE = "The run"
HOW_TO_READ = (
    "Every square is a token in reading order: green was drafted and accepted, blue is a bonus token of the target "
    "after a fully accepted path, orange a correction after rejected children. The more green, the fewer target passes."
)
ROW = 40
KINDS = {
    "accepted": (theme.GREEN, "square"), "bonus": (theme.BLUE, "diamond"), "correction": (theme.ORANGE, "hexagon"),
}  # fmt: skip


class Info(NamedTuple):
    """Tokens (text, kind, step from 1), counts by kind, passes, tokens per pass and per second (None for one step)."""

    tokens: tuple[tuple[str, str, int], ...]
    counts: dict[str, int]
    passes: int
    tokens_per_pass: float | None
    tokens_per_s: float | None


def info(trace: Trace) -> Info:
    """The ribbon of a run."""
    tokens = []
    for number, step in enumerate(trace.steps, 1):
        for place, piece in enumerate(step.pieces):
            own = place == len(step.pieces) - 1 and step.bonus is not None
            kind = ("correction" if step.corrected else "bonus") if own else "accepted"
            tokens.append((theme.visible(piece), kind, number))
    made = trace.counts
    counts = {kind: sum(found == kind for _, found, _ in tokens) for kind in KINDS}
    return Info(tuple(tokens), counts, made.passes, known(made.tokens_per_pass), known(made.tokens_per_s))


def draw(info: Info) -> go.Figure:
    if not info.tokens:
        return theme.empty("This run wrote no tokens.")
    title = (
        f"{TITLE}: {len(info.tokens)} tokens in {info.passes} target passes, {info.tokens_per_pass:.2f} per pass"
        + ("" if info.tokens_per_s is None else f", {info.tokens_per_s:.0f} tokens/s")
    )
    fig = theme.figure(f"token, {ROW} per row", "row", title, hovermode="closest")
    for kind, (colour, mark) in KINDS.items():
        chosen = [(place, text, step) for place, (text, found, step) in enumerate(info.tokens) if found == kind]
        if chosen:
            fig.add_scatter(
                x=[place % ROW + 1 for place, _, _ in chosen], y=[place // ROW + 1 for place, _, _ in chosen],
                mode="markers", name=f"{kind}, {info.counts[kind]}", text=[text for _, text, _ in chosen],
                customdata=[step for _, _, step in chosen], marker={"color": colour, "symbol": mark, "size": 11},
                hovertemplate="%{text}, step %{customdata}<extra></extra>",
            )  # fmt: skip
    rows = (len(info.tokens) - 1) // ROW + 1
    fig.update_yaxes(autorange="reversed", dtick=1, showgrid=False)
    fig.update_xaxes(range=[0, ROW + 1], showgrid=False)
    return fig.update_layout(height=180 + 26 * rows)
