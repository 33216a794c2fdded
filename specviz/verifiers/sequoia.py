"""Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

Unlike SpecInfer's, a refused token also leaves the draft: d loses it and is renormalised, exactly as the next child
was drawn. Once d is used up the remaining children were drawn uniformly, and are compared with that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


@dataclass(frozen=True)
class SequoiaRule(Verifier):
    """One coin per child, the residual and a smaller draft after each refusal."""

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"
    schemes: ClassVar[tuple[str, ...]] = ("distinct",)

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "distinct")

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/remaining draft)")
