"""Recursive rejection: each child is compared with what the children before it left of the target's
row, from the root down or from the leaves up."""

from __future__ import annotations

from typing import ClassVar

from ..sampling.children import SequentialProposal
from ..sampling.distributions import excess
from .decisions import carry, ratio
from .frames import LeavesFirst, Selection, SelectionRule, TopDown


class ResidualSelection(Selection):
    """A child is accepted with min(1, weight r / d); d is the distribution it was drawn from.

    r is p for the first child. After each rejection it becomes the residual norm([weight r - d]+).
    """

    def __post_init__(self) -> None:
        self.residual = self.p
        # Walks through the draft's own draws, child by child, as they were made.
        self.proposal = SequentialProposal(self.q, self.scheme)

    def chance(self, token: int) -> float:
        d = self.proposal.row
        self.rows = {"residual": self.residual, "draft": d}
        return ratio(self.weight * self.residual[token], d[token])

    def reject(self, token: int) -> None:
        # What the draft already offered is taken off p, whichever token it was; else tokens that
        # the draft favours would be written too often.
        left, mass = excess(self.weight * self.residual, self.proposal.row)
        self.weight = carry(mass, self.weight)
        if mass > 0:
            self.residual = left / mass
        self.proposal.advance(token)


class ResidualRule(SelectionRule):
    """A rule that compares each child with what the children before it left; they were drawn by
    the first of its `schemes`."""

    selection = ResidualSelection


class SequoiaRule(ResidualRule, TopDown):
    """Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

    A rejected token is also removed from the draft d, which is renormalised. Once d is used up the
    remaining children were drawn uniformly, and are compared with that.
    """

    name = "sequoia"
    title = "Sequoia"
    schemes = ("distinct",)


class DySpecRule(ResidualRule, TopDown):
    """DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

    As Sequoia's, but children drawn by the uniform fallback are not tried. This lowers acceptance
    but stays exact, because the number of tried children is fixed before any is drawn.
    """

    name = "dyspec"
    title = "DySpec"
    schemes = ("distinct",)
    only_support = True


class SpecInfer(ResidualRule, TopDown):
    """SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

    After a rejection the next child is compared with the residual norm([r - q]+); q does not
    change. Duplicates are tried as often as they were drawn. Where several drafters fill the tree,
    q is the row of the one that drew the child (4.3).
    """

    name = "specinfer"
    title = "SpecInfer"
    schemes = ("iid",)
    formula: ClassVar[str] = "min(1, residual/q)"


class SpeculativeSampling(ResidualRule, TopDown):
    """Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023,
    algorithm 2)."""

    name = "speculative-sampling"
    title = "Speculative sampling"
    schemes = ("iid", "distinct")
    chain_only = True
    formula: ClassVar[str] = "min(1, p/q)"


class Traversal(ResidualRule, LeavesFirst):
    """One draw per node of a tree, leaves first; the first success accepts the path to its node.

    A path's weight is p/q multiplied along it, capped at 1 at every token (Weng et al. 2025,
    algorithm 3). If all children of a node are rejected it is tested with the weight
    S / (S + 1 - weight), S the mass of [weight r - d]+, and the target's token is drawn from the
    residual.
    """

    name = "traversal"
    title = "Traversal verification"
    schemes = ("distinct",)
