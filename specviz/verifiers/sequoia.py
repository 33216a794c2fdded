"""Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

Unlike in SpecInfer's rule, a rejected token is also removed from the draft d, which is renormalised, as when the next
child was drawn. Once d is used up the remaining children were drawn uniformly, and are compared with that.
"""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


class SequoiaRule(Verifier):
    """One draw per child; after each rejection the residual and a renormalised draft."""

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"
    schemes: ClassVar[tuple[str, ...]] = ("distinct",)

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "distinct")

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/remaining draft)")
