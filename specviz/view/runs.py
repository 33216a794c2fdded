"""Figures of runs for notebooks and papers: a run as a ribbon of tokens, a step as a tree (the page
draws its own)."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from ..record.step import Step
from ..record.trace import Trace
from ..tree import Topology
from . import theme
from .layout import place
from .terminal import summary

ROW = 40  # tokens
MOST_TEXTS = 80  # marks of a kind that have room for their tokens
ORIGINS = {
    "accepted": (theme.GREEN, "square"),
    "bonus": (theme.BLUE, "diamond"),
    "correction": (theme.ORANGE, "hexagon"),
}
OUTCOMES = {  # outcome -> its name, colour and mark
    "root": ("root", theme.GREY, "circle"),
    "accepted": ("accepted", theme.GREEN, "square"),
    "rejected": ("rejected", theme.VERMILLION, "x-thin-open"),
    "unreached": ("not visited", theme.GREY, "circle-open"),
    "passed": ("passed over", theme.PURPLE, "triangle-up"),
    "probe": ("probe", theme.GREY, "triangle-down-open"),
}


def plot_ribbon(trace: Trace) -> go.Figure:
    """Draw every token of a run by its origin: accepted, bonus or correction."""
    tokens = []  # visible text, origin, step from 1
    for number, step in enumerate(trace.steps, 1):
        # The target's own token comes last in a step.
        origins = ["accepted"] * len(step.emitted_texts)
        if step.added:
            origins[-1] = step.added
        for text, origin in zip(step.emitted_texts, origins, strict=True):
            tokens.append((theme.visible(text), origin, number))
    if not tokens:
        return theme.empty("This run wrote no tokens.")
    fig = theme.figure(f"token, {ROW} per row", "row", summary(trace), hovermode="closest")
    for origin, (colour, symbol) in ORIGINS.items():
        places = [i for i, (_, kind, _) in enumerate(tokens) if kind == origin]
        if places:
            fig.add_scatter(
                x=[i % ROW + 1 for i in places],
                y=[i // ROW + 1 for i in places],
                mode="markers",
                name=f"{origin}, {len(places)}",
                text=[tokens[i][0] for i in places],
                customdata=[tokens[i][2] for i in places],
                marker={"color": colour, "symbol": symbol, "size": 11},
                hovertemplate="%{text}, step %{customdata}<extra></extra>",
            )
    fig.update_yaxes(autorange="reversed", dtick=1, showgrid=False)
    fig.update_xaxes(range=[0, ROW + 1], showgrid=False)
    return fig.update_layout(height=180 + 26 * ((len(tokens) - 1) // ROW + 1))


def plot_tree(step: Step) -> go.Figure:
    """Draw the tree of a step from left to right, the accepted path straight on top."""
    step = step.written
    parents = list(step.parents)
    path = list(step.path)
    if step.bonus is not None:  # the target's own token extends the accepted path
        parents.append(path[-1] if path else 0)
        # A node behind all others, which the step itself does not have.
        path.append(len(step.parents))
    # The path is laid out first among siblings, so it is the straight line on top.
    places = place(Topology(tuple(parents)), path)
    nodes: dict[str, list[int]] = {outcome: [] for outcome in OUTCOMES}
    for node, outcome in enumerate(step.outcome):
        nodes[outcome].append(node)
    counted = []
    for outcome, (name, _, _) in OUTCOMES.items():
        if nodes[outcome] and outcome != "root":
            counted.append(f"{len(nodes[outcome])} {name}")
    title = f"Step {step.index + 1}: {', '.join(counted) or 'no node was drafted'}"
    fig = theme.figure("tokens after the last committed one", "", title, hovermode="closest")
    for is_path, width, colour in ((False, 1, theme.GRID), (True, 3, theme.GREEN)):
        ends: list[tuple[int, int] | tuple[None, None]] = []
        for node, parent in enumerate(parents[1:], 1):
            if (node in path) == is_path:
                # None ends a line, so one trace holds all edges of a kind.
                ends += [places[parent], places[node], (None, None)]
        fig.add_scatter(
            x=[x for x, _ in ends],
            y=[y for _, y in ends],
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            showlegend=False,
        )
    for outcome, style in OUTCOMES.items():
        if nodes[outcome]:
            texts = [theme.visible(step.texts[node]) for node in nodes[outcome]]
            hover = [_hover(step, node, style[0]) for node in nodes[outcome]]
            _add_marks(fig, [places[node] for node in nodes[outcome]], texts, hover, style)
    if step.added:
        text = theme.visible(step.emitted_texts[-1])
        hover = [f"{text}<br>{step.added}: the target's own token"]
        style = (step.added, ORIGINS[step.added][0], "diamond")
        _add_marks(fig, places[-1:], [text], hover, style)
    fig.update_yaxes(autorange="reversed", visible=False)
    fig.update_xaxes(dtick=1)
    return fig


def _add_marks(
    fig: go.Figure,
    places: Sequence[tuple[int, int]],
    texts: Sequence[str],
    hover: Sequence[str],
    style: tuple[str, str, str],
) -> None:
    """Add marks with their texts; `style` is their name, colour and mark."""
    name, colour, symbol = style
    line = {"color": colour, "width": 2}
    # A text on every mark would cover a large tree; hovering shows it all the same.
    columns, rows = zip(*places, strict=True)
    fig.add_scatter(
        x=columns,
        y=rows,
        name=name,
        text=texts,
        customdata=hover,
        mode="markers+text" if len(texts) <= MOST_TEXTS else "markers",
        textposition="bottom right",
        textfont={"size": 11},
        hovertemplate="%{customdata}<extra></extra>",
        marker={"color": colour, "symbol": symbol, "size": 10, "line": line},
    )


def _hover(step: Step, node: int, name: str) -> str:
    values = {
        "q": step.draft_prob[node],
        "p": step.target_prob[node],
        "acceptance probability": step.accept_prob[node],
        "uniform draw u": step.coin[node],
    }
    numbers = []
    for label, x in values.items():
        if x is not None:
            numbers.append(f"{label} = {x:.4f}")
    return "<br>".join([theme.visible(step.texts[node], 60), name, *numbers])
