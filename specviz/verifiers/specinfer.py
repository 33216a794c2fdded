"""SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

Children are tried one after the other. Unlike speculative sampling a refusal does not end the step: the next child is
compared with the residual, norm([r - q]+), while q stays as it is because every child was drawn from all of q.
Duplicates are tried as often as they were drawn. Where several drafters fill the tree, q is the row of the drafter
that drew the child (section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


@dataclass(frozen=True)
class SpecInfer(Verifier):
    """One coin per child, the residual after each refusal, q unchanged."""

    name: ClassVar[str] = "specinfer"
    title: ClassVar[str] = "SpecInfer"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "iid")

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/q)")
