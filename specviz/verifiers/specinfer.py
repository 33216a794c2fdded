"""SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

Children are tried one after the other. Unlike in speculative sampling, a rejection does not end the step: the next
child is compared with the residual, norm([r - q]+), while q does not change because every child was drawn from q.
Duplicates are tried as often as they were drawn. Where several drafters fill the tree, q is the row of the drafter
that drew the child (section 4.3).
"""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


class SpecInfer(Verifier):
    """One draw per child, the residual after each rejection, q unchanged."""

    name: ClassVar[str] = "specinfer"
    title: ClassVar[str] = "SpecInfer"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "iid")

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/q)")
