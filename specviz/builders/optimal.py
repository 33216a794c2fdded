"""The optimal tree by priority queue (Kobus and Gündüz 2025, algorithm 3).

Unlike Sequoia's dynamic programme it takes the most likely node again and again, in k log k steps. For acceptance
vectors that never rise both find the same value. If a vector rises, a good child comes after a poor one and the greedy
choice is not optimal; such a vector (noise, as a rule) is first replaced by the nearest one that never rises,
which averages neighbours, and the shape is optimal for that one only. The record of growth shows the vector used.
"""

from __future__ import annotations

from functools import lru_cache
from heapq import heappop, heappush
from typing import ClassVar

from ..tree import Topology
from .planned import PlannedBuilder


class Optimal(PlannedBuilder):
    """The `size` - 1 nodes that are most likely to be accepted."""

    name: ClassVar[str] = "optimal"
    title: ClassVar[str] = "Optimal by priority queue"

    def plan(self, acceptance):
        return likeliest_tree(falling(acceptance), self.size, self.depth, self.width)

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree = super().__call__(draft, rng, scheme, tokens_left, state)
        tree.grew(smoothed=falling(tree.growth.acceptance) != tree.growth.acceptance)
        return tree


@lru_cache(maxsize=64)
def likeliest_tree(acceptance: tuple, size: int, depth: int, width: int) -> Topology:
    """The `size` - 1 most likely nodes for a vector, or one per level, that never rises, numbered breadth first.

    A slot (chance of the parent, rank) opens two others: the next sibling's and the first child's.
    """
    vectors = acceptance if isinstance(acceptance[0], tuple) else (acceptance,)
    levels = [vector[:width] for vector in (*vectors, *vectors[-1:] * depth)]
    chosen: list[int] = []  # (number of the parent, rank) in the order of choice; the root has number 0
    slots = [(-levels[0][0], 0, 0, 1.0, 1)]  # minus the node's chance, parent, rank, the parent's chance, level
    while slots and len(chosen) < size - 1:
        minus_chance, parent, rank, above, level = heappop(slots)
        chosen.append(parent)
        vector = levels[level - 1]
        if rank + 1 < len(vector):
            heappush(slots, (-above * vector[rank + 1], parent, rank + 1, above, level))
        if level < depth:
            heappush(slots, (minus_chance * levels[level][0], len(chosen), 0, -minus_chance, level + 1))
    return _breadth_first([-1, *chosen])


def _breadth_first(parents: list[int]) -> Topology:
    """The same shape with its nodes numbered level by level."""
    shape = Topology(tuple(parents))
    number = {node: i for i, node in enumerate(shape.breadth_first)}
    return Topology((-1, *(number[parents[node]] for node in shape.breadth_first[1:])))


def falling(vector: tuple) -> tuple:
    """The nearest vector, in squares, that never rises: neighbours that rise are pooled to their mean; level by level
    where there is one per level."""
    if isinstance(vector[0], tuple):
        return tuple(map(falling, vector))
    pools: list[tuple[float, int]] = []  # (sum, how many)
    for value in vector:
        pools.append((value, 1))
        while len(pools) > 1 and pools[-2][0] * pools[-1][1] < pools[-1][0] * pools[-2][1]:
            (high, many), (low, few) = pools.pop(), pools.pop()
            pools.append((high + low, many + few))
    return tuple(total / count for total, count in pools for _ in range(count))
