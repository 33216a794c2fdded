"""Greedy verification: accept the child that is the target's most probable token (temperature 0 only)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..protocols import Verifier
from .walk import Walk, explain_match


@dataclass(frozen=True)
class ExactMatch(Verifier):
    """No chance at all: follow the most probable tokens as long as the tree has them."""

    name: ClassVar[str] = "exact-match"
    title: ClassVar[str] = "Exact match"
    laws: ClassVar[tuple[str, ...]] = ("top", "distinct", "iid")
    reads_draft: ClassVar[bool] = False
    greedy_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while True:
            token = int(np.argmax(p[node]))
            for child in tree.children[node]:
                walk.mark(child, tree.tokens[child] == token)
                if tree.tokens[child] == token:
                    break
            else:
                return walk.end(token)
            node = child

    def explain(self, step, node):
        return explain_match(
            step, node, "it is the target's most probable token", "the target's most probable token is another one"
        )
