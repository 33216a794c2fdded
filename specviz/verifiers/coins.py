"""Recursive rejection: the children of a node in turn, each accepted with probability min(1,
residual / draft)."""

from __future__ import annotations

from typing import ClassVar

from ..record.step import Step
from ..sampling.children import SequentialProposal
from ..sampling.distributions import Distributions, residual
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .walk import Bars, Walk, explain_coin, ratio


class CoinRule(Verifier):
    """Try the children of a node one after the other, and continue from the first that is accepted.

    Each is accepted with probability min(1, r / d): r is p, and after every rejection the residual
    norm([r - d]+); d is the distribution the child was drawn from by the first of `schemes`. If all
    are rejected the target's token is drawn from r. `formula` stands for min(1, r / d) in
    explanations.
    """

    formula: ClassVar[str] = "min(1, residual/remaining draft)"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)
        node = 0  # the last accepted one
        while children := tree.children[node]:
            q, r, chart = tree.draft_distributions[node], p[node], Bars(p[node])
            proposal = SequentialProposal(q, self.schemes[0])
            if self.only_support:
                # Known before any is drawn, so the choice tells nothing about the draws.
                children = children[: int((q > 0).sum())]
            for child in children:
                token, d = tree.tokens[child], proposal.row
                walk.note(child, tried=chart(token, residual=r, draft=d))
                if walk.flip(child, ratio(r[token], d[token]), rng):
                    node = child
                    break
                # What the draft already offered is taken off p, whichever token it was; else
                # tokens that the draft favours would be written too often.
                r = residual(r, d)
                proposal.advance(token)
            else:  # no child was accepted
                bonus = rng.draw(r)
                walk.note(node, after=chart(token, bonus, residual=r))
                return walk.end(bonus)
        return walk.end(rng.draw(p[node]))

    def explain(self, step: Step, node: int) -> str:
        return explain_coin(step, node, self.formula)


class SequoiaRule(CoinRule):
    """Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

    A rejected token is also removed from the draft d, which is renormalised. Once d is used up the
    remaining children were drawn uniformly, and are compared with that.
    """

    name, title = "sequoia", "Sequoia"
    schemes = ("distinct",)


class DySpecRule(CoinRule):
    """DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

    As Sequoia's, but children drawn by the uniform fallback are not tried. This lowers acceptance
    but stays exact, because the number of tried children is fixed before any is drawn.
    """

    name, title = "dyspec", "DySpec"
    schemes = ("distinct",)
    only_support = True


class SpecInfer(CoinRule):
    """SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

    After a rejection the next child is compared with the residual norm([r - q]+); q does not
    change. Duplicates are tried as often as they were drawn. Where several drafters fill the tree,
    q is the row of the one that drew the child (4.3).
    """

    name, title = "specinfer", "SpecInfer"
    schemes = ("iid",)
    formula = "min(1, residual/q)"


class SpeculativeSampling(CoinRule):
    """Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023,
    algorithm 2)."""

    name, title = "speculative-sampling", "Speculative sampling"
    schemes = ("iid", "distinct")
    chain_only = True
    formula = "min(1, p/q)"
