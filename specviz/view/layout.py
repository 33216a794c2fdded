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
    shift = [0] * len(shape)  # rows below the parent
    # The highest and the lowest row in use, level by level below a node, counted from its row.
    outlines: list[tuple[list[int], list[int]]] = [([], [])] * len(shape)
    # Children have larger numbers than their parents, so backwards is bottom up.
    for node in reversed(range(len(shape))):
        highest: list[int] = []
        lowest: list[int] = []
        for child in sorted(shape.children[node], key=lambda child: (child not in first, child)):
            tops, bottoms = outlines[child]
            # As far down as the outlines of what stands above ask for, level by level.
            gaps = []
            for above, top in zip(lowest, tops, strict=False):
                gaps.append(above - top + 1)
            down = max(gaps, default=0)
            shift[child] = down
            # The outline below grows only where this child reaches deeper than those before it.
            for row in tops[len(highest) :]:
                highest.append(row + down)
            lowest[: len(bottoms)] = [row + down for row in bottoms]
        outlines[node] = [0, *highest], [0, *lowest]
    # From the root on, each node at its parent's row and as far down as it was shifted.
    rows = [0] * len(shape)
    for node, parent in enumerate(shape.parents[1:], 1):
        rows[node] = rows[parent] + shift[node]
    return [(int(depth), row) for depth, row in zip(shape.depth, rows, strict=True)]
