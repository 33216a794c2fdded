"""Trees re-ranked once they are drafted: expand the most likely nodes level by level, keep the best of all.

A drawn token may not be dropped because of its value, so children are the draft's most probable tokens instead of
draws, and only rules that never compare with q keep these trees lossless.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from ..distributions import entropy
from ..sampling import most_probable
from ..tree import Chart, TokenTree
from .base import TreeBuilder, max_depth, tree_size

CUT = 8  # how many of the candidates that were cut are recorded


@dataclass(frozen=True, eq=False)
class Candidate:
    """A token that may enter the tree; `value` is the product of q along its path, `parent` is None for the root."""

    value: float
    parent: Candidate | None
    token: int


class Reranked(TreeBuilder):
    """The best `size` - 1 of all candidates found by expanding the `width` best nodes of every level."""

    key_title = "the draft's probability of its path"
    schemes = ("top",)
    in_support = True
    size: int = tree_size(16)
    depth: int = max_depth(5)
    width: int = Field(
        4, ge=1, le=64, title="Expanded per level", description="Nodes expanded per level, and children per node."
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        root = Candidate(1.0, None, draft.tree.tokens[0])
        read, level, found = {root: 0}, [root], list[Candidate]()  # read: candidate -> node in the draft's own tree
        for depth in range(min(self.depth, tokens_left - 1)):
            if not level or not self.is_likely(sum(candidate.value for candidate in level)):
                break
            rows = draft.expand([read[candidate] for candidate in level])
            if not self.is_certain(depth, draft.at_temperature_1(read[level[0]], rows[0])):
                break
            children = [
                Candidate(above.value * float(q[token]), above, token)
                for above, q in zip(level, rows, strict=True)
                for token in most_probable(q, self.width)
                if q[token] > 0
            ]
            found += children
            level = sorted(children, key=lambda candidate: -candidate.value)[: self.width]
            read |= {candidate: draft.tree.add(read[candidate.parent], candidate.token) for candidate in level}
        ranked = sorted(found, key=lambda candidate: -candidate.value)  # stable: a parent stays before its children
        return self._keep_best(draft.tree, root, read, ranked)

    def is_likely(self, mass: float) -> bool:
        """Whether the draft is to read a level, by what the probabilities of its paths add up to."""
        return True

    def is_certain(self, depth: int, row: np.ndarray) -> bool:
        """Whether a level that was read is to have children, by its depth and its best node's row."""
        return True

    def _keep_best(self, drafted: TokenTree, root: Candidate, read: dict, ranked: list[Candidate]) -> TokenTree:
        tree, place = TokenTree(drafted.tokens[0], drafted.start, drafted.scheme), {root: 0}
        for candidate in ranked[: self.size - 1]:
            assert candidate.parent is not None
            place[candidate] = tree.add(place[candidate.parent], candidate.token, candidate.value)
        # The draft's own tree is another one: it holds only what was read, and some of that was cut.
        tree.origin = {place[candidate]: node for candidate, node in read.items() if candidate in place}
        rows = drafted.draft_distributions
        tree.draft_distributions = {node: rows[old] for node, old in tree.origin.items() if old in rows}
        cut = ranked[self.size - 1 :][:CUT]
        chart = Chart(tuple(one.token for one in cut), {"keys": tuple(one.value for one in cut)})
        tree.grew(candidates=len(ranked), cut=chart)
        return tree


class Eagle2(Reranked):
    """EAGLE-2's tree (Li et al. 2024, section 4).

    With `h` the draft stops, after every second level, where the best node's row has sqrt(entropy) > h (Zhang et al.
    2024, section 3.3).
    """

    name, title = "eagle2", "EAGLE-2"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 2, "width": 2}
    h: float = Field(
        0.0, ge=0.0, le=3.0, title="Stop at entropy h", description="Stop where sqrt(entropy) is above; 0 never stops."
    )

    def is_certain(self, depth, row):
        return not (self.h and depth and depth % 2 == 0) or math.sqrt(entropy(row)) <= self.h


class Ddd(Reranked):
    """EAGLE-2's tree, stopped before a level whose paths are together less likely than `mass` (Brown et al. 2024)."""

    name, title = "ddd", "Dynamic depth"
    small: ClassVar[dict[str, Any]] = {"size": 5, "depth": 3, "width": 2, "mass": 0.6}
    mass: float = Field(
        0.3, ge=0.0, le=1.0, title="Least probability", description="Stop if a level's paths together are less likely."
    )

    def is_likely(self, mass):
        return mass >= self.mass
