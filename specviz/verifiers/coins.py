"""Rules that try the children of a node in turn, each accepted with probability min(1, residual / draft)."""

from __future__ import annotations

from typing import ClassVar

from .base import Verifier
from .walk import explain_coin, recursive_rejection


class CoinRule(Verifier):
    """The loop is `recursive_rejection`, of children drawn by the first scheme; `formula` explains the probability."""

    formula: ClassVar[str] = "min(1, residual/remaining draft)"

    def __call__(self, tree, p, rng):
        return recursive_rejection(tree, p, rng, self.schemes[0], self.in_support)

    def explain(self, step, node):
        return explain_coin(step, node, self.formula)


class SequoiaRule(CoinRule):
    """Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

    A rejected token is also removed from the draft d, which is renormalised. Once d is used up the remaining children
    were drawn uniformly, and are compared with that.
    """

    name, title = "sequoia", "Sequoia"
    schemes = ("distinct",)


class DySpecRule(CoinRule):
    """DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

    As Sequoia's, but children drawn by the uniform fallback are not tried. This lowers acceptance but stays exact,
    because the number of tried children is fixed before any is drawn.
    """

    name, title = "dyspec", "DySpec"
    schemes = ("distinct",)
    in_support = True


class SpecInfer(CoinRule):
    """SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

    After a rejection the next child is compared with the residual norm([r - q]+); q does not change. Duplicates are
    tried as often as they were drawn. Where several drafters fill the tree, q is the row of the one that drew the child
    (4.3).
    """

    name, title = "specinfer", "SpecInfer"
    schemes = ("iid",)
    formula = "min(1, residual/q)"


class SpeculativeSampling(CoinRule):
    """Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2)."""

    name, title = "speculative-sampling", "Speculative sampling"
    schemes = ("iid", "distinct")
    chain_only = True
    formula = "min(1, p/q)"
