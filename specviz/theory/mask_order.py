"""Orders of a tree's nodes in the attention mask, and the number of blocks that each order fills.

Every node attends to its ancestors and itself. An attention kernel works through the mask block by block and can skip
an empty one, so an order that keeps paths together saves work (DySpec: Xiong et al. 2024, appendix C). What the tree
attends to before its root is a full rectangle in any order; with `prefix` tokens of it the columns begin there, so
that the part of the count which no order can change grows with the text (figure 9).

What is known about the count, each checked in the tests:

* In an order that lists every subtree at once, a row of blocks holds its own block and those of the ancestors of its
  first node, nothing else.
* Heavy-path order cuts the path to any node into at most 1 + log2(n) runs of neighbours, because every step off a
  heavy path at least halves the subtree (Sleator and Tarjan 1981).
* No order is always the best one: heavy-path order mostly finds the minimum over all orders of small trees, but it can
  lose to depth-first and even to breadth-first order by a block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ..randomness import Randomness
from ..tree import Topology

ORDERS: dict[str, Callable[[Topology], tuple[int, ...]]] = {
    "as drawn": lambda shape: tuple(range(len(shape))),
    "breadth-first": lambda shape: shape.breadth_first,
    "depth-first": lambda shape: shape.depth_first,
    "heavy-path": lambda shape: shape.heavy_path,
}


def block_pairs(shape: Topology, order: Sequence[int], block: int, prefix: int = 0) -> np.ndarray:
    """How many pairs (node, what it attends to) fall into each block of the attention mask, int [m, m + more].

    Args:
        shape: the tree, n nodes.
        order: every node once, in the order of rows and columns.
        block: rows and columns of a block; m = n / block, rounded up.
        prefix: tokens before the root, whose columns come first and which every node attends to.

    Raises:
        ValueError: if `block` is no whole number from 1, or `prefix` none from 0.
    """
    if type(block) is not int or block < 1:
        raise ValueError(f"block must be a whole number from 1; got {block!r}.")
    if type(prefix) is not int or prefix < 0:
        raise ValueError(f"prefix must be a whole number from 0; got {prefix!r}.")
    place = np.empty(len(shape), int)
    place[list(order)] = np.arange(len(shape))
    rows, columns = np.nonzero(shape.ancestor_mask)
    pairs = np.zeros((-(-len(shape) // block), -(-(prefix + len(shape)) // block)), int)
    np.add.at(pairs, (place[rows] // block, (prefix + place[columns]) // block), 1)
    np.add.at(pairs, (place[:, None] // block, np.arange(prefix) // block), 1)
    return pairs


def count_blocks(shape: Topology, order: Sequence[int], block: int = 32, prefix: int = 0) -> int:
    """The number of blocks of the attention mask that are not empty; arguments as above."""
    return int(np.count_nonzero(block_pairs(shape, order, block, prefix)))


def fewest_blocks(shape: Topology, block: int = 32) -> int:
    """A number of blocks that no order can fall below.

    A row of blocks needs the columns of all ancestors of its deepest node, and those of the root, which are in its own
    block in one row of blocks only. Taking the nodes from the deepest upwards makes the deepest nodes as shallow as any
    grouping can.
    """
    deepest = np.sort(shape.depth)[::-1][::block]
    needed = -(-(deepest + 1) // block)
    return int(np.maximum(needed, 2).sum() - (needed.min() == 1))


def random_tree(size: int, rng: Randomness) -> Topology:
    """A tree in which each node hangs from any earlier one with equal chance.

    The block counts of DySpec's table 5 ("a random tree attention mask") are those of such trees.

    Args:
        size: nodes, root included.
        rng: where chance comes from.
    """
    return Topology((-1, *(rng.draw(np.ones(node)) for node in range(1, size))))
