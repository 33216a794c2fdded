"""Figures of runs for notebooks and papers: a run as a ribbon of tokens, a step as a tree (the page
draws its own)."""

from __future__ import annotations

from math import isnan

import plotly.graph_objects as go

from ..record.step import Step
from ..record.trace import Trace
from ..tree import Topology
from . import theme
from .layout import place

ROW = 40  # tokens
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
        for i, text in enumerate(step.pieces):
            is_added = i == len(step.pieces) - 1 and step.bonus is not None
            origin = ("correction" if step.corrected else "bonus") if is_added else "accepted"
            tokens.append((theme.visible(text), origin, number))
    if not tokens:
        return theme.empty("This run wrote no tokens.")
    title = (
        f"{len(tokens)} tokens in {len(trace.steps)} target passes, {trace.tokens_per_pass:.2f} "
        "per pass"
    )
    title += "" if isnan(trace.tokens_per_s) else f", {trace.tokens_per_s:.0f} tokens/s"
    fig = theme.figure(f"token, {ROW} per row", "row", title, hovermode="closest")
    for origin, (colour, symbol) in ORIGINS.items():
        group = [(i, text, step) for i, (text, kind, step) in enumerate(tokens) if kind == origin]
        if group:
            fig.add_scatter(
                x=[i % ROW + 1 for i, _, _ in group],
                y=[i // ROW + 1 for i, _, _ in group],
                mode="markers",
                name=f"{origin}, {len(group)}",
                text=[text for _, text, _ in group],
                customdata=[step for _, _, step in group],
                marker={"color": colour, "symbol": symbol, "size": 11},
                hovertemplate="%{text}, step %{customdata}<extra></extra>",
            )
    fig.update_yaxes(autorange="reversed", dtick=1, showgrid=False)
    fig.update_xaxes(range=[0, ROW + 1], showgrid=False)
    return fig.update_layout(height=180 + 26 * ((len(tokens) - 1) // ROW + 1))


def plot_tree(step: Step) -> go.Figure:
    """Draw the tree of a step from left to right, the accepted path straight on top."""
    parents, path = tuple(step.parents), tuple(step.path)
    if step.bonus is not None:  # the target's own token extends the accepted path
        parents, path = (*parents, path[-1] if path else 0), (*path, len(parents))
    places = place(Topology(parents), path)
    counts = {
        outcome: step.outcome.count(outcome) for outcome in OUTCOMES if outcome in step.outcome
    }
    listed = ", ".join(
        f"{count} {OUTCOMES[outcome][0]}" for outcome, count in counts.items() if outcome != "root"
    )
    title = f"Step {step.index + 1}: {listed or 'no node was drafted'}"
    fig = theme.figure("tokens after the last committed one", "", title, hovermode="closest")
    on_path = {0, *path}
    for width, colour, is_path in ((1, theme.GRID, False), (3, theme.GREEN, True)):
        edges = [
            (above, node)
            for node, above in enumerate(parents)
            if above >= 0 and (node in on_path) == is_path
        ]
        fig.add_scatter(
            x=[x for above, node in edges for x in (places[above][0], places[node][0], None)],
            y=[y for above, node in edges for y in (places[above][1], places[node][1], None)],
            mode="lines",
            line={"color": colour, "width": width},
            hoverinfo="skip",
            showlegend=False,
        )
    for outcome in counts:
        nodes = [node for node, kind in enumerate(step.outcome) if kind == outcome]
        _add_marks(fig, step, [places[node] for node in nodes], nodes, OUTCOMES[outcome])
    if step.bonus is not None:
        kind = "correction" if step.corrected else "bonus"
        _add_marks(fig, step, places[-1:], [], (kind, ORIGINS[kind][0], "diamond"))
    fig.update_yaxes(autorange="reversed", visible=False)
    fig.update_xaxes(dtick=1)
    return fig


def _add_marks(
    fig: go.Figure, step: Step, places: list, nodes: list[int], style: tuple[str, str, str]
) -> None:
    """Add the marks of some nodes; without nodes, that of the token that the target added."""
    name, colour, symbol = style
    texts = [theme.visible(step.texts[node]) for node in nodes] or [theme.visible(step.pieces[-1])]
    hover = [_hover(step, node, name) for node in nodes] or [
        f"{texts[0]}<br>{name}: the target's own token"
    ]
    fig.add_scatter(
        x=[x for x, _ in places],
        y=[y for _, y in places],
        name=name,
        text=texts,
        customdata=hover,
        mode="markers+text" if len(step.parents) <= 80 else "markers",
        textposition="bottom right",
        textfont={"size": 11},
        hovertemplate="%{customdata}<extra></extra>",
        marker={
            "color": colour,
            "symbol": symbol,
            "size": 10,
            "line": {"color": colour, "width": 2},
        },
    )


def _hover(step: Step, node: int, name: str) -> str:
    columns = {
        "q": step.draft_prob,
        "p": step.target_prob,
        "acceptance probability": step.accept_prob,
        "uniform draw u": step.coin,
    }
    numbers = [
        f"{label} = {column[node]:.4f}"
        for label, column in columns.items()
        if column[node] is not None
    ]
    return "<br>".join([theme.visible(step.texts[node], 60), name, *numbers])
