"""Sequoia's tree: the shape of a given size and depth with the most expected tokens.

Unlike the other static shapes it is computed, by dynamic programming over an acceptance vector P, where P[k] is the
probability that the k-th child is accepted once its parent is (Chen et al. 2024, section 3.1, algorithm 1; bounded
depth and one vector per level: appendix F.1.1, algorithm 4).
A node counts the product of P along its path; the sum over all nodes, the root's 1 included, is the expected number
of tokens per pass. Depth is counted here in levels below the root, one draft pass each; the paper counts the root's
level as well (its P has D - 1 rows), so its tree of size 64 and depth 12 is `size=64, depth=11`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar

import numpy as np

from ..tree import Topology
from .planned import PlannedBuilder


class Sequoia(PlannedBuilder):
    """The best tree of `size` nodes and `depth` levels for an acceptance vector."""

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"

    def plan(self, acceptance):
        return best_tree(acceptance, self.size, self.depth, self.width)[0]


@lru_cache(maxsize=64)
def best_tree(acceptance: tuple, size: int, depth: int, width: int) -> tuple[Topology, float]:
    """The tree with the most expected tokens per pass.

    Args:
        acceptance: P[k] for k = 1, 2, ..., or one such vector per level (the last one is repeated); it need not fall.
        size: most nodes, root included.
        depth: most levels below the root.
        width: most children of a node; at most len(P) are used.

    Returns:
        The shape, nodes breadth first, and its expected tokens per pass. It has fewer nodes than `size` only where
        depth and width leave no room for more.
    """
    return _unfold(size, *_programme(acceptance, size, depth, width))


def best_trees(
    acceptance: tuple, sizes: Sequence[int], depths: Sequence[int], width: int
) -> dict[tuple[int, int], tuple[Topology, float]]:
    """`best_tree` for every size and depth: one dynamic programme holds all smaller trees."""
    largest, deepest = max(sizes), max(depths)
    one_vector = not isinstance(acceptance[0], tuple)
    programme = _programme(acceptance, largest, deepest, width) if one_vector else None
    trees: dict[tuple[int, int], tuple[Topology, float]] = {}
    for depth in depths:
        if programme:  # with one vector for all levels the lower part of a programme is that of a shallower tree
            levels, best, exact = (rows[deepest - depth :] for rows in programme)
        else:
            levels, best, exact = _programme(acceptance, largest, depth, width)
        trees |= {(size, depth): _unfold(size, levels, best, exact) for size in sizes}
    return trees


def _programme(acceptance: tuple, size: int, depth: int, width: int) -> tuple[list, list, list]:
    """The dynamic programme, level by level: P, `best` and `exact`.

    best[d][m] is the most tokens from a subtree of exactly m nodes whose top node is at depth d (at the last level only
    a single node fits), and exact[d][b][m] the same with exactly b children.
    """
    vectors = [acceptance] * depth if not isinstance(acceptance[0], tuple) else list(acceptance)
    levels = [np.asarray(level[:width], float) for level in (vectors + vectors[-1:] * depth)[:depth]]
    best: list[np.ndarray] = [np.full(size + 1, -np.inf) for _ in range(depth + 1)]
    best[depth][1] = 1.0
    exact: list[np.ndarray] = [np.empty(0)] * depth
    for d in reversed(range(depth)):
        exact[d] = _split(levels[d], best[d + 1])
        best[d] = exact[d].max(axis=0)
    return levels, best, exact


def _split(level: np.ndarray, below: np.ndarray) -> np.ndarray:
    """exact[b, m]: the most tokens of m nodes split over a node, and b children that each head a subtree of `below`."""
    size = len(below) - 1
    exact = np.full((len(level) + 1, size + 1), -np.inf)
    exact[0, 1] = 1.0
    largest = int(np.flatnonzero(np.isfinite(below))[-1]) if np.isfinite(below).any() else 0
    # rest[m, j] = exact[b - 1, m - j] for subtrees of j = 1 .. largest nodes, as a view on a padded copy
    padded = np.full(size + 1 + largest, -np.inf)
    window = np.lib.stride_tricks.sliding_window_view(padded, largest)[: size + 1, ::-1]
    scratch = np.empty((size + 1, largest))
    for b, accept in enumerate(level, 1):
        padded[largest:] = exact[b - 1]
        np.add(window, accept * below[1 : largest + 1], out=scratch)
        scratch.max(axis=1, out=exact[b])
    return exact


def _unfold(
    size: int, levels: list[np.ndarray], best: list[np.ndarray], exact: list[np.ndarray]
) -> tuple[Topology, float]:
    """Follow the choices of the dynamic programme back from the root; the largest tree of at most `size` nodes."""
    nodes = int(np.flatnonzero(np.isfinite(best[0][: size + 1]))[-1])
    parents, waiting = [-1], [(0, 0, nodes)]  # (node, depth, nodes of its subtree)
    for node, d, m in waiting:
        if m == 1:
            continue
        children, b = [], int(exact[d][:, m].argmax())
        for k in range(b, 0, -1):
            j = np.flatnonzero(np.isfinite(best[d + 1][:m]))
            share = int(j[(exact[d][k - 1, m - j] + levels[d][k - 1] * best[d + 1][j]).argmax()])
            children.append(share)
            m -= share
        for share in reversed(children):
            waiting.append((len(parents), d + 1, share))
            parents.append(node)
    return Topology(tuple(parents)), float(best[0][nodes])
