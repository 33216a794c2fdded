"""Shapes planned from an acceptance vector: the best tree, the likeliest nodes, levels of one size.

P[k] is the probability that the k-th child is accepted once its parent is. A vector here is P for
all levels, or one P per level, of which the last is repeated.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush

import numpy as np

from ..record.vectors import by_level
from ..tree import Topology


@lru_cache(maxsize=64)
def best_tree(acceptance: tuple, size: int, depth: int, width: int) -> tuple[Topology, float]:
    """The tree with the most expected tokens per pass, nodes breadth first, and that number.

    Args:
        acceptance: P[k] for k = 1, 2, ..., or one such vector per level (the last one is repeated);
            it need not fall.
        size, depth, width: most nodes with the root, most levels below it, most children of a node.
    """
    return best_trees(acceptance, [size], [depth], width)[size, depth]


def best_trees(
    acceptance: tuple, sizes: Sequence[int], depths: Sequence[int], width: int
) -> dict[tuple[int, int], tuple[Topology, float]]:
    """`best_tree` for every size and depth: the tables of the largest size hold all smaller
    trees."""
    trees: dict[tuple[int, int], tuple[Topology, float]] = {}
    for depth in depths:
        levels = levels_of(acceptance, depth, width)
        tables = _knapsacks(levels, max(sizes))
        # Of the best subtree of 1, 2, ... nodes, whatever its root's children; a bounded tree has
        # no more.
        best = []
        for table in tables:
            most = table.max(axis=0)
            best.append(most[np.isfinite(most)])
        for size in sizes:
            trees[size, depth] = _unfold(size, levels, tables, best)
    return trees


@lru_cache(maxsize=64)
def most_tokens(acceptance: tuple, size: int, depth: int, width: int) -> np.ndarray:
    """The expected tokens per pass of the best trees of 1, 2, ... nodes, [at most `size`].

    Arguments as for `best_tree`.
    """
    table = _knapsacks(levels_of(acceptance, depth, width), size)[0]
    tokens = table.max(axis=0)[1:]
    return tokens[np.isfinite(tokens)]


def levels_of(acceptance: tuple, depth: int, width: int) -> tuple[tuple[float, ...], ...]:
    """The vector of each level."""
    vectors = by_level(acceptance)
    return tuple(vectors[min(level, len(vectors) - 1)][:width] for level in range(depth))


@lru_cache(maxsize=64)
def _knapsacks(levels: tuple[tuple[float, ...], ...], size: int) -> tuple[np.ndarray, ...]:
    """Dynamic programme (Sequoia, algorithm 1): for each level a table [children, nodes] of the
    most expected tokens.

    With P of child b: table[b, m] = max over j of table[b - 1, m - j] + P * below[j]. The last
    table is that of leaves.
    """
    table = np.full((len(levels[0]) + 1 if levels else 1, size + 1), -np.inf)
    table[0, 1] = 1.0  # a node without children: itself
    if not levels:
        return (table,)
    # Where all levels are alike, a shallower tree has the lower tables of a deeper one, and the
    # cache finds them.
    tables = _knapsacks(levels[1:], size)
    below = tables[0].max(axis=0)  # the best subtree of j nodes, whatever its root's children
    largest = int(np.flatnonzero(np.isfinite(below))[-1])  # a shallow subtree cannot have more
    # before[m, j - 1] = table[b - 1, m - j] for all m and j at once: a window over the row that
    # slides without being copied. Its padding stands for negative numbers of nodes.
    padded = np.full(size + 1 + largest, -np.inf)
    before = np.lib.stride_tricks.sliding_window_view(padded, largest)[: size + 1, ::-1]
    sums = np.empty((size + 1, largest))
    for b, accept in enumerate(levels[0], 1):
        padded[largest:] = table[b - 1]
        np.add(before, accept * below[1 : largest + 1], out=sums)
        sums.max(axis=1, out=table[b])
    return (table, *tables)


def _unfold(
    size: int,
    levels: tuple[tuple[float, ...], ...],
    tables: tuple[np.ndarray, ...],
    best: list[np.ndarray],
) -> tuple[Topology, float]:
    """The largest tree of at most `size` nodes, by following the best splits back from the root."""
    nodes = min(size, len(best[0]))
    parents = [-1]
    subtrees = [(0, 0, nodes)]  # (node, its level, nodes of its subtree); grows while it is read
    for node, depth, left in subtrees:
        table = tables[depth]
        sizes: list[int] = []  # of the children's subtrees, the last child first
        # How many children the best subtree of so many nodes has, and from the last one back, how
        # many nodes are below each.
        for child in range(int(table[:, left].argmax()), 0, -1):
            # The split that the table's maximum came from: j nodes for this child.
            below = best[depth + 1][: left - 1]
            before = table[child - 1, left - len(below) : left][::-1]
            sizes.append(1 + int((before + levels[depth][child - 1] * below).argmax()))
            left -= sizes[-1]
        for subtree_size in reversed(sizes):
            subtrees.append((len(parents), depth + 1, subtree_size))
            parents.append(node)
    return Topology(tuple(parents)), float(best[0][nodes - 1])


@lru_cache(maxsize=64)
def priority_queue_tree(acceptance: tuple, size: int, depth: int, width: int) -> Topology:
    """The `size` - 1 most likely nodes for a vector, or one per level, that never rises, numbered
    breadth first."""
    levels = levels_of(acceptance, depth, width)
    # Of each node, in the order of choice.
    parents = [-1]
    chance = [1.0]
    level = [0]

    def slot(parent: int, rank: int) -> tuple[float, int, int]:
        return -chance[parent] * levels[level[parent]][rank], parent, rank

    slots = [slot(0, 0)]
    while slots and len(parents) < size:
        minus_chance, parent, rank = heappop(slots)
        node = len(parents)
        parents.append(parent)
        chance.append(-minus_chance)
        level.append(level[parent] + 1)
        # What it makes possible: its next sibling and its first child, neither likelier than it.
        if rank + 1 < len(levels[level[parent]]):
            heappush(slots, slot(parent, rank + 1))
        if level[node] < depth:
            heappush(slots, slot(node, 0))
    shape = Topology(tuple(parents))
    number = {node: i for i, node in enumerate(shape.breadth_first)}
    return Topology((-1, *(number[parents[node]] for node in shape.breadth_first[1:])))


def isotonic(vector: tuple) -> tuple:
    """The nearest vector, in squares, that never rises; level by level where there is one per
    level."""
    if isinstance(vector[0], tuple):
        return tuple(map(isotonic, vector))
    pools: list[tuple[float, int]] = []  # (sum, how many)
    for value in vector:
        pools.append((value, 1))
        # Neighbours that rise are pooled to their mean.
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            last_sum, last_count = pools.pop()
            total, count = pools.pop()
            pools.append((last_sum + total, last_count + count))
    means = []
    for total, count in pools:
        means += [total / count] * count
    return tuple(means)


@lru_cache(maxsize=64)
def equal_levels(acceptance: tuple, size: int, depth: int, width: int) -> Topology:
    """Level by level the most likely nodes for a vector that never rises, as many in each level."""
    parents = [-1]
    chance = [1.0]
    level = [0]
    for accept in levels_of(acceptance, depth, width):
        slots = []
        for parent in level:
            for prob in accept:
                slots.append((chance[parent] * prob, parent))
        slots.sort(key=lambda slot: -slot[0])
        # Chosen by chance, then numbered breadth first: by their parents.
        chosen = sorted(slots[: max(1, (size - 1) // depth)], key=lambda slot: slot[1])
        level = list(range(len(parents), len(parents) + len(chosen)))
        for prob, parent in chosen:
            parents.append(parent)
            chance.append(prob)
    return Topology(tuple(parents))
