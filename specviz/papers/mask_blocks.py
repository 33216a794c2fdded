"""Blocks of a tree's attention mask that are not empty, by the order of its nodes (DySpec, appendix
C).

Every node attends to its ancestors and itself. A kernel works through the mask block by block and
can skip an empty one, so an order that keeps paths together saves work. What the tree attends to
before its root is full in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..sampling.randomness import Randomness
from ..tree import Topology

ORDERS: dict[str, Callable[[Topology], tuple[int, ...]]] = {
    "as drawn": lambda shape: tuple(range(len(shape))),
    "depth-first": lambda shape: tuple(sorted(range(len(shape)), key=shape.path)),
    "heavy-path": lambda shape: shape.heavy_path,
}


def count_blocks(shape: Topology, order: Sequence[int], block: int = 32, prefix: int = 0) -> int:
    """The number of blocks of the attention mask that are not empty.

    Args:
        shape: the tree, n nodes.
        order: every node once, in the order of rows and columns.
        block: rows and columns of a block.
        prefix: tokens before the root, whose columns come first and which every node attends to.
    """
    place = np.empty(len(shape), int)
    place[list(order)] = np.arange(len(shape))
    seen = [(node, above) for node in range(len(shape)) for above in (0, *shape.path(node))]
    rows, columns = np.array(seen).T
    filled = np.zeros((-(-len(shape) // block), -(-(prefix + len(shape)) // block)), bool)
    filled[place[rows] // block, (prefix + place[columns]) // block] = True
    filled[:, : -(-prefix // block)] = True
    return int(filled.sum())


def random_tree(size: int, rng: Randomness) -> Topology:
    """A tree in which each node hangs from any earlier one with equal chance, as in DySpec's table
    5.

    Args:
        size: nodes, root included.
        rng: where chance comes from.
    """
    return Topology((-1, *(rng.draw(np.ones(node)) for node in range(1, size))))
