"""DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

Unlike Sequoia's rule it has no uniform fallback: once every token with draft probability above 0 was rejected, it
stops and draws from the residual. Children drawn by the fallback are left alone, which costs acceptance and no
exactness: that they are not tried was settled before they were drawn.
"""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


class DySpecRule(Verifier):
    """Sequoia's rule while the draft has probability left."""

    name: ClassVar[str] = "dyspec"
    title: ClassVar[str] = "DySpec"
    schemes: ClassVar[tuple[str, ...]] = ("distinct",)
    in_support: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, "distinct", in_support=True)

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/remaining draft)")
