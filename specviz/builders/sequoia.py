"""Sequoia's tree and the optimal tree: shapes planned from an acceptance vector P.

P[k] is the probability that the k-th child is accepted once its parent is. The product of P along a
node's path, summed over all nodes, is the expected number of tokens per pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from heapq import heappop, heappush
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import AfterValidator, Field

from ..base.codec import Probability
from ..record.vectors import RunningAcceptance, check_acceptance, find_acceptance, reach
from ..tree import Topology
from .base import max_depth, tree_size
from .static import StaticBuilder, fill

DEEPEST = 16  # levels of a tree of which only the size is given
Acceptance = Annotated[
    tuple[Probability, ...] | tuple[tuple[Probability, ...], ...],
    AfterValidator(lambda value: check_acceptance(value, "")),
]
_reach = lru_cache(maxsize=64)(reach)  # a shape is planned once for many steps


class PlannedBuilder(StaticBuilder):
    """A static builder with an `acceptance`: "auto" (stored for pair, drafter, rule and
    temperature), "measured" (its first level at first, then following the run), or numbers."""

    key_title = "estimated acceptance probability"
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2, "width": 2, "acceptance": (0.5, 0.3)}
    size: int = tree_size(16)
    depth: int = max_depth(6)
    width: int = Field(
        32, ge=1, le=64, title="Max branching", description="Maximum number of children per node."
    )
    acceptance: Literal["auto", "measured"] | Acceptance = Field(
        "auto",
        title="Acceptance",
        description="The acceptance vector: auto (stored for this drafter, rule and temperature), "
        "measured (follows "
        "the run), or numbers, one list for all levels or one per level.",
    )

    def plan(self, acceptance: tuple) -> Topology:
        """The shape for a vector."""
        raise NotImplementedError

    @classmethod
    def sized(cls, nodes):
        return {"size": nodes, "depth": DEEPEST}

    @property
    def is_chain(self) -> bool:
        return self.size <= 2 or all(
            len(level) == 1 for level in _levels(self.vector, self.depth, self.width)
        )

    @property
    def vector(self) -> tuple:
        """The vector before the first step."""
        if isinstance(self.acceptance, RunningAcceptance):
            return self.acceptance.vector
        return (
            find_acceptance("sequoia", 1.0) if isinstance(self.acceptance, str) else self.acceptance
        )

    @property
    def shape(self) -> Topology:
        return self.plan(self.vector)

    def prepare(self, verifier, temperature, drafter, pair):
        if not isinstance(self.acceptance, str):
            return self
        stored = find_acceptance(verifier.name, temperature, drafter, pair)
        resolved = RunningAcceptance.begin(stored) if self.acceptance == "measured" else stored
        return self.model_copy(update={"acceptance": resolved})

    def start(self):
        return self.acceptance if isinstance(self.acceptance, RunningAcceptance) else None

    def __call__(self, draft, rng, scheme, tokens_left, state):
        vector = self.vector if state is None else state.vector
        shape = self.plan(vector)
        chance = _reach(shape, vector)
        tree = fill(draft, shape, scheme, rng, tokens_left, keys=chance)
        tree.grew(
            acceptance=vector,
            expected=sum(filter(None, tree.keys), 1.0),
            split=tuple(tree.topology.weight.tolist()),
        )
        return tree

    def learn(self, state, tree, verdict, rows=None):
        return None if state is None else state.learn(tree.children, verdict.path)


class Sequoia(PlannedBuilder):
    """The best tree of `size` nodes and `depth` levels for an acceptance vector, by dynamic
    programming.

    Source: Chen et al. 2024, section 3.1, algorithm 1; bounded depth and one vector per level:
        algorithm 4. Depth
    counts levels below the root; the paper's counts the root too: its size 64 and depth 12 is
    `size=64, depth=11`.
    """

    name, title = "sequoia", "Sequoia"

    def plan(self, acceptance):
        return best_tree(acceptance, self.size, self.depth, self.width)[0]


class Optimal(PlannedBuilder):
    """The `size` - 1 nodes that are most likely to be accepted, by priority queue (Kobus and Gündüz
    2025, algorithm 3).

    This is optimal for acceptance vectors that never rise. For a vector that rises the shape is
    planned from the nearest one that does not; `smoothed` in the record of growth says so.
    """

    name, title = "optimal", "Optimal by priority queue"

    def plan(self, acceptance):
        return likeliest_tree(falling(acceptance), self.size, self.depth, self.width)

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree = super().__call__(draft, rng, scheme, tokens_left, state)
        tree.grew(smoothed=falling(tree.growth.acceptance) != tree.growth.acceptance)
        return tree


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
        levels = _levels(acceptance, depth, width)
        tables = _knapsacks(levels, max(sizes))
        trees |= {(size, depth): _unfold(size, levels, tables) for size in sizes}
    return trees


def _levels(acceptance: tuple, depth: int, width: int) -> tuple[tuple[float, ...], ...]:
    """The vector of each level."""
    vectors = acceptance if isinstance(acceptance[0], tuple) else (acceptance,)
    return tuple(vectors[min(level, len(vectors) - 1)][:width] for level in range(depth))


@lru_cache(
    maxsize=64
)  # where all levels are alike, a shallower tree has the lower tables of a deeper one
def _knapsacks(levels: tuple[tuple[float, ...], ...], size: int) -> tuple[np.ndarray, ...]:
    """Dynamic programme (Sequoia, algorithm 1): for each level a table [children, nodes] of the
    most expected tokens.

    With P of child b: table[b, m] = max over j of table[b - 1, m - j] + P * below[j]. The last
    table is that of leaves.
    """
    table = np.full((len(levels[0]) + 1 if levels else 1, size + 1), -np.inf)
    table[0, 1] = 1.0  # a node without children
    if not levels:
        return (table,)
    tables = _knapsacks(levels[1:], size)
    below = tables[0].max(axis=0)
    largest = int(np.flatnonzero(np.isfinite(below))[-1])
    padded = np.full(size + 1 + largest, -np.inf)
    # before[m, j - 1] = table[b - 1, m - j], as a view
    before = np.lib.stride_tricks.sliding_window_view(padded, largest)[: size + 1, ::-1]
    sums = np.empty((size + 1, largest))
    for b, accept in enumerate(levels[0], 1):
        padded[largest:] = table[b - 1]
        np.add(before, accept * below[1 : largest + 1], out=sums)
        sums.max(axis=1, out=table[b])
    return (table, *tables)


def _unfold(
    size: int, levels: tuple[tuple[float, ...], ...], tables: tuple[np.ndarray, ...]
) -> tuple[Topology, float]:
    """The largest tree of at most `size` nodes, by following the best splits back from the root."""
    best = [table.max(axis=0) for table in tables]
    nodes = int(np.flatnonzero(np.isfinite(best[0][: size + 1]))[-1])
    parents, subtrees = [-1], [(0, 0, nodes)]  # (node, its level, nodes of its subtree)
    for node, depth, left in subtrees:
        sizes: list[int] = []  # of the children's subtrees, the last one first
        for child in range(int(tables[depth][:, left].argmax()), 0, -1):
            j = np.flatnonzero(np.isfinite(best[depth + 1][:left]))
            tokens = (
                tables[depth][child - 1, left - j] + levels[depth][child - 1] * best[depth + 1][j]
            )
            sizes.append(int(j[tokens.argmax()]))
            left -= sizes[-1]
        for subtree_size in reversed(sizes):
            subtrees.append((len(parents), depth + 1, subtree_size))
            parents.append(node)
    return Topology(tuple(parents)), float(best[0][nodes])


@lru_cache(maxsize=64)
def likeliest_tree(acceptance: tuple, size: int, depth: int, width: int) -> Topology:
    """The `size` - 1 most likely nodes for a vector, or one per level, that never rises, numbered
    breadth first."""
    levels = _levels(acceptance, depth, width)
    parents = [-1]  # in the order of choice
    slots = [
        (-levels[0][0], 0, 0, 1.0, 0)
    ]  # minus the node's chance, parent, rank, the parent's chance, its level
    while slots and len(parents) < size:
        minus_chance, parent, rank, parent_chance, level = heappop(slots)
        parents.append(parent)
        if rank + 1 < len(levels[level]):
            heappush(
                slots,
                (-parent_chance * levels[level][rank + 1], parent, rank + 1, parent_chance, level),
            )
        if level + 1 < depth:
            heappush(
                slots,
                (
                    minus_chance * levels[level + 1][0],
                    len(parents) - 1,
                    0,
                    -minus_chance,
                    level + 1,
                ),
            )
    shape = Topology(tuple(parents))
    number = {node: i for i, node in enumerate(shape.breadth_first)}
    return Topology((-1, *(number[parents[node]] for node in shape.breadth_first[1:])))


def falling(vector: tuple) -> tuple:
    """The nearest vector, in squares, that never rises: neighbours that rise are pooled to their
    mean; level by level where there is one per level."""
    if isinstance(vector[0], tuple):
        return tuple(map(falling, vector))
    pools: list[tuple[float, int]] = []  # (sum, how many)
    for value in vector:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            (last_sum, last_count), (total, count) = pools.pop(), pools.pop()
            pools.append((last_sum + total, last_count + count))
    return tuple(total / count for total, count in pools for _ in range(count))
