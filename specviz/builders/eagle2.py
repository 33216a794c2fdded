"""Trees re-ranked once they are drafted: expand the most likely nodes level by level, keep the best
of all.

A drawn token may not be dropped because of its value, so children are the draft's most probable
tokens instead of draws, and only rules that never compare with q keep these trees lossless.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from ..sampling.children import most_probable
from ..sampling.distributions import entropy
from ..tree import Chart, TokenTree
from .base import TreeBuilder, max_depth, tree_size

CUT = 8  # how many of the candidates that were cut are recorded


class Reranked(TreeBuilder):
    """The best `size` - 1 of all candidates found by expanding the `width` best nodes of every
    level."""

    key_title = "the draft's probability of its path"
    schemes = ("top",)
    in_support = True
    size: int = tree_size(16)
    depth: int = max_depth(5)
    width: int = Field(
        4,
        ge=1,
        le=64,
        title="Expanded per level",
        description="Nodes expanded per level, and children per node.",
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        candidates, path_prob, level = draft.tree, [1.0], [0]
        for depth in range(min(self.depth, tokens_left - 1)):
            if not level or not self.is_likely(sum(path_prob[node] for node in level)):
                break
            rows = draft.expand(level)
            if not self.is_certain(depth, draft.drafting.at_temperature_1(level[0], rows[0])):
                break
            children = [
                (path_prob[node] * float(q[token]), node, token)
                for node, q in zip(level, rows, strict=True)
                for token in most_probable(q, self.width)
                if q[token] > 0
            ]
            children.sort(key=lambda child: -child[0])
            path_prob += [prob for prob, _, _ in children]
            level = [candidates.add(parent, token) for _, parent, token in children][: self.width]
        ranked = sorted(
            range(len(candidates)), key=lambda node: -path_prob[node]
        )  # stable: parents before children
        tree = subtree(candidates, ranked[: self.size], path_prob)
        cut = ranked[self.size :][:CUT]
        chart = Chart(
            tuple(candidates.tokens[node] for node in cut),
            {"keys": tuple(path_prob[node] for node in cut)},
        )
        tree.grew(candidates=len(ranked) - 1, cut=chart)
        return tree

    def is_likely(self, mass: float) -> bool:
        """Whether the draft is to read a level, by what the probabilities of its paths add up
        to."""
        return True

    def is_certain(self, depth: int, row: np.ndarray) -> bool:
        """Whether a level that was read is to have children, by its depth and its best node's
        row."""
        return True


def subtree(tree: TokenTree, nodes: list[int], keys: list[float]) -> TokenTree:
    """Some `nodes` of a tree as a tree, numbered in this order: the root first, parents before
    children."""
    best, number = TokenTree(tree.tokens[0], tree.start, tree.scheme), {0: 0}
    for node in nodes[1:]:
        number[node] = best.add(number[tree.parents[node]], tree.tokens[node], keys[node])
    best.origin = {number[node]: node for node in sorted(nodes)}
    rows = tree.draft_distributions
    best.draft_distributions = {
        new: rows[node] for new, node in best.origin.items() if node in rows
    }
    return best


class Eagle2(Reranked):
    """The most probable paths: `width` nodes of a level are expanded, the best `size` stay (Li et
    al. 2024, section 4).

    With `h` the draft stops, after every second level, where the best node's row has sqrt(entropy)
    > h (Zhang et al. 2024, section 3.3).
    """

    name, title = "eagle2", "EAGLE-2"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 2, "width": 2}
    h: float = Field(
        0.0,
        ge=0.0,
        le=3.0,
        title="Stop at entropy h",
        description="Stop where sqrt(entropy) is above; 0 never stops.",
    )

    def is_certain(self, depth, row):
        return not (self.h and depth and depth % 2 == 0) or math.sqrt(entropy(row)) <= self.h


class Ddd(Reranked):
    """EAGLE-2's tree, stopped before a level whose paths are together less likely than `mass`
    (Brown et al. 2024)."""

    name, title = "ddd", "Dynamic depth"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 3, "width": 2, "mass": 0.6}
    mass: float = Field(
        0.3,
        ge=0.0,
        le=1.0,
        title="Least probability",
        description="Stop if a level's paths together are less likely.",
    )

    def is_likely(self, mass):
        return mass >= self.mass
