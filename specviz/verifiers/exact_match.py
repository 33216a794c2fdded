"""Greedy verification: accept the target's most probable token, at temperature 0 only (SVIP, algorithm 3)."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from .base import Verifier
from .walk import Walk, explain_match, follow


class ExactMatch(Verifier):
    """Deterministic: follow the most probable tokens while the tree has them."""

    name: ClassVar[str] = "exact-match"
    title: ClassVar[str] = "Exact match"
    schemes: ClassVar[tuple[str, ...]] = ("top", "distinct", "iid")
    reads_draft: ClassVar[bool] = False
    greedy_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        return follow(Walk(tree), tree, lambda node: int(np.argmax(p[node])))

    def explain(self, step, node):
        return explain_match(
            step, node, "it is the target's most probable token", "the target's most probable token is different"
        )
