"""Rules that try the children of a node one after the other, each with a coin min(1, residual / draft)."""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, try_in_turn


class CoinRule(Verifier):
    """The first child whose coin succeeds is accepted; after a rejection the next one is compared with the residual.

    Class attributes:
        drawn: how the children were drawn, "iid" or "distinct"; formula: the coin, for the explanation.
    """

    drawn: ClassVar[str] = "distinct"
    formula: ClassVar[str] = "min(1, residual/remaining draft)"

    def __call__(self, tree, p, rng):
        return try_in_turn(tree, p, rng, self.drawn, self.in_support)

    def explain(self, step, node):
        return explain_coin(step, node, self.formula)


class SequoiaRule(CoinRule):
    """Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

    Unlike in SpecInfer's rule, a rejected token is also removed from the draft d, which is renormalised, as when the
    next child was drawn. Once d is used up the remaining children were drawn uniformly, and are compared with that.
    """

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"
    schemes: ClassVar[tuple[str, ...]] = ("distinct",)


class DySpecRule(CoinRule):
    """DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

    Unlike Sequoia's rule it has no uniform fallback: once every token with draft probability above 0 was rejected, it
    stops and draws from the residual. Children drawn by the fallback are left alone, which costs acceptance and no
    exactness: that they are not tried was settled before they were drawn.
    """

    name: ClassVar[str] = "dyspec"
    title: ClassVar[str] = "DySpec"
    schemes: ClassVar[tuple[str, ...]] = ("distinct",)
    in_support: ClassVar[bool] = True


class SpecInfer(CoinRule):
    """SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

    Unlike in speculative sampling, a rejection does not end the step: the next child is compared with the residual,
    norm([r - q]+), while q does not change because every child was drawn from q. Duplicates are tried as often as they
    were drawn. Where several drafters fill the tree, q is the row of the drafter that drew the child (section 4.3).
    """

    name: ClassVar[str] = "specinfer"
    title: ClassVar[str] = "SpecInfer"
    schemes: ClassVar[tuple[str, ...]] = ("iid",)
    drawn: ClassVar[str] = "iid"
    formula: ClassVar[str] = "min(1, residual/q)"


class SpeculativeSampling(CoinRule):
    """Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2).

    A token is accepted with probability min(1, p/q); the first rejection draws from the residual norm([p - q]+).
    """

    name: ClassVar[str] = "speculative-sampling"
    title: ClassVar[str] = "Speculative sampling"
    schemes: ClassVar[tuple[str, ...]] = ("iid", "distinct")
    chain_only: ClassVar[bool] = True
    drawn: ClassVar[str] = "iid"
    formula: ClassVar[str] = "min(1, p/q)"
