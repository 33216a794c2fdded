"""The tree of one step, left to right: for notebooks and papers (the demo draws its own)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import plotly.graph_objects as go

from ..record import Step
from ..tree import Topology
from . import theme

TITLE = "Step"
HOW_TO_READ = (
    "The root is on the left, each column is one token further. Green squares were accepted and form the line at the "
    "top, orange crosses were rejected, hollow grey circles were not visited, triangles are probes that no rule "
    "compares, and the blue diamond is the token that the target added."
)
NAMES = {"root": "root", "accepted": "accepted", "rejected": "rejected", "unreached": "not visited",
         "passed": "passed over", "probe": "probe"}  # fmt: skip

ON_THE_WAY = ("root", "accepted", "bonus", "correction")  # of the text


class Node(NamedTuple):
    """One mark: column, row, outcome, visible text, and what hovering shows."""

    x: int
    y: int
    outcome: str
    text: str
    hover: str


class Info(NamedTuple):
    """Marks in node order, edges as pairs of nodes, the token the target added or None, and counts by outcome."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    added: Node | None
    counts: dict[str, int]
    step: int


def info(step: Step) -> Info:
    """The marks of a step."""
    parents, path = step.parents, step.path
    if step.bonus is not None:  # the target's own token goes on where the accepted path ends
        parents, path = (*parents, path[-1] if path else 0), (*path, len(parents))
    places = place(Topology(parents), path)
    nodes = tuple(
        Node(*places[node], outcome, theme.visible(step.texts[node]), _hover(step, node))
        for node, outcome in enumerate(step.outcome)
    )
    added = None
    if step.bonus is not None:
        kind, text = "correction" if step.corrected else "bonus", theme.visible(step.pieces[-1])
        added = Node(*places[-1], kind, text, f"{text}<br>{kind}: the target's own token")
    counts = {outcome: step.outcome.count(outcome) for outcome in NAMES if outcome in step.outcome}
    edges = tuple((parent, node) for node, parent in enumerate(step.parents) if parent >= 0)
    return Info(nodes, edges, added, counts, step.index)


def _hover(step: Step, node: int) -> str:
    lines = [theme.visible(step.texts[node], 60), NAMES[step.outcome[node]]]
    for name, column in (("q", step.draft_prob), ("p", step.target_prob), ("acceptance probability", step.accept_prob),
                         ("uniform draw u", step.coin)):  # fmt: skip
        if column[node] is not None:
            lines.append(f"{name} = {column[node]:.4f}")
    return "<br>".join(lines)


def draw(info: Info) -> go.Figure:
    counts = ", ".join(f"{count} {NAMES[outcome]}" for outcome, count in info.counts.items() if outcome != "root")
    title = f"{TITLE} {info.step + 1}: {counts or 'no node was drafted'}"
    fig = theme.figure("tokens after the last committed one", "", title, hovermode="closest")
    x, y = [], []
    for parent, node in info.edges:
        x += [info.nodes[parent].x, info.nodes[node].x, None]
        y += [info.nodes[parent].y, info.nodes[node].y, None]
    fig.add_scatter(x=x, y=y, mode="lines", line={"color": theme.GRID, "width": 1}, hoverinfo="skip", showlegend=False)
    path = [node for node in (*info.nodes, info.added) if node and node.outcome in ON_THE_WAY]
    fig.add_scatter(
        x=[node.x for node in path], y=[node.y for node in path], mode="lines", showlegend=False, hoverinfo="skip",
        line={"color": theme.GREEN, "width": 3},
    )  # fmt: skip
    labels = len(info.nodes) <= 80
    for outcome in info.counts:
        chosen = [node for node in info.nodes if node.outcome == outcome]
        _marks(fig, chosen, NAMES[outcome], theme.OUTCOMES[outcome], theme.OUTCOME_MARKS[outcome], labels)
    if info.added:
        colour = theme.BLUE if info.added.outcome == "bonus" else theme.ORANGE
        _marks(fig, [info.added], info.added.outcome, colour, "diamond", True)
    fig.update_yaxes(autorange="reversed", visible=False)
    fig.update_xaxes(dtick=1)
    return fig


def _marks(fig: go.Figure, nodes: list[Node], name: str, colour: str, mark: str, labels: bool) -> None:
    fig.add_scatter(
        x=[node.x for node in nodes], y=[node.y for node in nodes], name=name,
        mode="markers+text" if labels else "markers", text=[node.text for node in nodes],
        customdata=[node.hover for node in nodes], textposition="bottom right", textfont={"size": 11},
        marker={"color": colour, "symbol": mark, "size": 10, "line": {"color": colour, "width": 2}},
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip


def place(shape: Topology, path: Sequence[int] = ()) -> list[tuple[int, int]]:
    """(column, row) of each node: depth in columns, and the accepted path straight on top.

    The layout of Reingold and Tilford (1981) turned on its side and hung from its first child: subtrees are packed as
    close as their outlines allow, and a parent stands in the row of its first child.

    Args:
        shape: the tree.
        path: nodes whose place is the first among their siblings, the accepted ones.
    """
    first = set(path)
    order = [sorted(children, key=lambda child: (child not in first, child)) for children in shape.children]
    shift = [0] * len(shape)  # rows below the parent
    outline: list[list[int]] = [[] for _ in range(len(shape))]  # the lowest row in use, level by level, from the node
    for node in reversed(range(len(shape))):
        lowest: list[int] = []
        for child in order[node]:
            below = outline[child]
            top = _tops(shape, order, shift, child, len(lowest))
            shift[child] = max((used - start + 1 for used, start in zip(lowest, top, strict=False)), default=0)
            moved = [row + shift[child] for row in below]
            lowest = moved + lowest[len(moved) :]
        outline[node] = [0, *lowest]
    rows = [0] * len(shape)
    for node, parent in enumerate(shape.parents[1:], 1):
        rows[node] = rows[parent] + shift[node]
    return [(int(depth), row) for depth, row in zip(shape.depth, rows, strict=True)]


def _tops(shape: Topology, order: list, shift: list[int], node: int, levels: int) -> list[int]:
    """The highest row in use at each level of a subtree, from its own top node; not deeper than `levels`."""
    tops: list[int] = []
    level = [(node, 0)]
    while level and len(tops) < levels:
        tops.append(min(row for _, row in level))
        level = [(child, row + shift[child]) for above, row in level for child in order[above]]
    return tops
