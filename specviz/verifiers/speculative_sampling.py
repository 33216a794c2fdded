"""Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2).

Accept a token with probability min(1, p/q); at the first rejection draw from the residual norm([p - q]+).
"""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


class SpeculativeSampling(Verifier):
    """One draw per token of a chain."""

    name: ClassVar[str] = "speculative-sampling"
    title: ClassVar[str] = "Speculative sampling"
    schemes: ClassVar[tuple[str, ...]] = ("iid", "distinct")
    chain_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "iid")

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, p/q)")
