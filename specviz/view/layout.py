"""Where the nodes of a tree are drawn."""

from __future__ import annotations

from collections.abc import Sequence

from ..tree import Topology


def place(shape: Topology, path: Sequence[int] = ()) -> list[tuple[int, int]]:
    """(column, row) of each node: depth in columns, and the accepted path straight on top.

    The layout of Reingold and Tilford (1981) turned on its side and hung from its first child:
    subtrees are packed as close as their outlines allow, and a parent stands in the row of its
    first child.

    Args:
        shape: the tree.
        path: nodes whose place is the first among their siblings, the accepted ones.
    """
    first = set(path)
    order = [
        sorted(children, key=lambda child: (child not in first, child))
        for children in shape.children
    ]
    shift = [0] * len(shape)  # rows below the parent
    outline: list[list[int]] = [
        [] for _ in range(len(shape))
    ]  # the lowest row in use, level by level, from the node
    for node in reversed(range(len(shape))):
        lowest: list[int] = []
        for child in order[node]:
            below = outline[child]
            top = _tops(shape, order, shift, child, len(lowest))
            shift[child] = max(
                (used - start + 1 for used, start in zip(lowest, top, strict=False)), default=0
            )
            moved = [row + shift[child] for row in below]
            lowest = moved + lowest[len(moved) :]
        outline[node] = [0, *lowest]
    rows = [0] * len(shape)
    for node, parent in enumerate(shape.parents[1:], 1):
        rows[node] = rows[parent] + shift[node]
    return [(int(depth), row) for depth, row in zip(shape.depth, rows, strict=True)]


def _tops(shape: Topology, order: list, shift: list[int], node: int, levels: int) -> list[int]:
    """The highest row in use at each level of a subtree, from its own top node; not deeper than
    `levels`."""
    tops: list[int] = []
    level = [(node, 0)]
    while level and len(tops) < levels:
        tops.append(min(row for _, row in level))
        level = [(child, row + shift[child]) for above, row in level for child in order[above]]
    return tops
