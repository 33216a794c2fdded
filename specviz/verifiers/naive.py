"""Naive sampling: independent draws of the draft, accepted if they contain the target's own draw.

Unlike `target-match`, the same rule, which asks for the draft's most probable tokens, it asks for children drawn with
replacement: the baseline that SpecInfer and Sequoia compare with (Sequoia, section 2.2: naive against top-k sampling).
It accepts with sum p (1 - (1 - q)^k), so with one child with sum p q where a coupling reaches sum min(p, q).
"""

from __future__ import annotations

from typing import ClassVar

from .bars import Bars
from .base import Verifier
from .walk import Walk, explain_match, follow


class Naive(Verifier):
    """One draw from p per accepted node, and one more; children are independent draws."""

    name: ClassVar[str] = "naive"
    title: ClassVar[str] = "Naive sampling"
    schemes: ClassVar[tuple[str, ...]] = ("iid", "distinct", "top", "race")
    reads_draft: ClassVar[bool] = False

    def __call__(self, tree, p, rng):
        walk = Walk(tree)

        def draw(node: int) -> int:
            token = rng.draw(p[node])
            walk.show(node, after=Bars(p[node])(token))
            return token

        return follow(walk, tree, draw, p)

    def explain(self, step, node):
        return explain_match(step, node, "the target drew this token", "the target drew another token")
