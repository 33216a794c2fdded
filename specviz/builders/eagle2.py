"""EAGLE-2's trees: expand the most likely nodes level by level, keep the best of all."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np

from ..base.codec import JsonObject
from ..config.strategy import number
from ..sampling.children import most_probable
from ..sampling.distributions import entropy
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Draft, max_depth
from .ranked import RankedBuilder
from .worth import Rate


class LevelBuilder(RankedBuilder):
    """The best of all candidates found by expanding the `width` best nodes of every level."""

    depth: int = max_depth(5)
    width: int = number(
        4, 1, 64, "Expanded per level", "Nodes expanded per level, and children per node."
    )

    def __call__(
        self, draft: Draft, rng: Randomness, tokens_left: int, state: Rate | None
    ) -> TokenTree:
        tree = draft.tree
        agreement = state.agreement if state else 1.0
        path_prob = [1.0]
        level = [0]
        for depth in range(min(self.depth, tokens_left - 1)):
            level = self.worth_reading(tree, level, path_prob, state)
            if not level or not self.is_likely(sum(path_prob[node] for node in level)):
                break
            rows = draft.expand(level)
            if not self.is_certain(depth, draft.certainty_row(level[0], rows[0])):
                break
            children = []
            for node, q in zip(level, rows, strict=True):
                for token in most_probable(q, self.width):
                    if q[token] > 0:
                        prob = path_prob[node] * agreement * float(q[token])
                        children.append((prob, node, token))
            # All of them stay candidates, but the draft reads only the most probable ones next.
            children.sort(key=lambda child: -child[0])
            level = []
            for prob, parent, token in children:
                level.append(tree.add(parent, token))
                path_prob.append(prob)
            level = level[: self.width]
        return self.keep_best(draft, path_prob, state)

    @property
    def is_chain(self) -> bool:
        return self.width == 1 or super().is_chain

    def is_likely(self, mass: float) -> bool:
        """Whether the draft is to read a level, by what the probabilities of its paths add up
        to."""
        return True

    def is_certain(self, depth: int, row: np.ndarray) -> bool:
        """Whether a level that was read is to have children, by its depth and its best node's
        row."""
        return True


class Eagle2(LevelBuilder):
    """The most probable paths: `width` nodes of a level are expanded, the best `size` stay (Li et
    al. 2024, section 4).

    With `h` the draft stops, after every second level, where the best node's row has sqrt(entropy)
    > h (Zhang et al. 2024, section 3.3).
    """

    name = "eagle2"
    title = "EAGLE-2"
    small: ClassVar[JsonObject] = {"size": 5, "depth": 2, "width": 2}
    h: float = number(
        0.0, 0.0, 3.0, "Stop at entropy h", "Stop where sqrt(entropy) is above; 0 never stops."
    )

    def is_certain(self, depth: int, row: np.ndarray) -> bool:
        is_tested = self.h and depth and depth % 2 == 0
        return not is_tested or math.sqrt(entropy(row)) <= self.h


class Ddd(LevelBuilder):
    """EAGLE-2's tree, stopped before a level whose paths are together less likely than `mass`
    (Brown et al. 2024)."""

    name = "ddd"
    title = "Dynamic depth"
    small: ClassVar[JsonObject] = {"size": 5, "depth": 3, "width": 2, "mass": 0.6}
    mass: float = number(
        0.3, 0.0, 1.0, "Least probability", "Stop if a level's paths together are less likely."
    )

    @property
    def is_chain(self) -> bool:
        return self.width == 1 or super().is_chain

    def is_likely(self, mass: float) -> bool:
        return mass >= self.mass
