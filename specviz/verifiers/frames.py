"""The two orders in which the children of nodes are tried, each by a rule's plan for one node.

A path has a *weight*, the chance with which it, or a longer path that begins with it, must be
accepted. For one token it is min(1, p/q): with p = (0.3, 0.7) and q = (0.6, 0.4) the first token
has the weight 0.5, the second 1. S is the mass of [weight p - q]+, what the target wants beyond
the draft: here [0.3 - 0.6]+ + [0.7 - 0.4]+ = 0.3. A child's *share* is the part of its parent's
weight that it may use up. Once all children have failed, a parent of weight w < 1 is accepted
with S / (S + 1 - w): the chance, given the failures, that adds up to w (`walk.carry`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from ..record.step import Step
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .walk import Bars, Walk, explain_coin, trial, untried


class Try(NamedTuple):
    """A step of a plan: a child, or at last the node itself once all its children failed.

    Args:
        prob: the chance to accept it; of the node, where it is tested after its children.
        rows: rows that are shown with it, [V] each; at last "residual", what the target's token is
            drawn from, up to a factor.
        facts: single numbers that are shown with it.
    """

    prob: float
    rows: Mapping[str, np.ndarray] = {}
    facts: Mapping[str, float] = {}


class PlannedRule(Verifier):
    """A rule that is a plan for each node."""

    def plan(
        self, weight: float, p: np.ndarray, q: np.ndarray, tokens: Sequence[int]
    ) -> Iterator[Try]:
        """A try for each child, and one more for what is left; each is asked for only once those
        before it failed.

        Args:
            weight: the chance with which this node or one below it must be accepted.
            p, q: the target's and the draft's row after the node, float64 [V].
            tokens: its children, in the order in which they were drawn.
        """
        raise NotImplementedError


class TopDown(PlannedRule):
    """The children of a node in turn, from the root on; the walk goes on from the first that is
    accepted. `formula` stands for a child's chance in explanations, `first_formula` for that of a
    first child."""

    formula: ClassVar[str] = "min(1, residual/remaining draft)"
    first_formula: ClassVar[str] = "min(1, p/q)"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)
        node = 0  # the last accepted one
        while children := tree.children[node]:
            q = tree.draft_distributions[node]
            chart = Bars(p[node])
            if self.only_support:
                # Known before any is drawn, so the choice tells nothing about the draws.
                children = children[: int((q > 0).sum())]
            tokens = [tree.tokens[child] for child in children]
            # A generator: the residual after a rejection is computed only if there is one.
            plan = self.plan(1.0, p[node], q, tokens)
            for child, (prob, rows, facts) in zip(children, plan, strict=False):
                walk.note(child, tried=chart(tree.tokens[child], **rows), facts=facts)
                if walk.flip(child, prob, rng):
                    node = child
                    break
            else:  # no child was accepted
                # The plan goes on behind the last child: what is left for the target's own token.
                rows = next(plan).rows
                bonus = rng.draw(rows["residual"])
                walk.note(node, after=chart(tokens[-1], bonus, **rows))
                return walk.end(bonus)
        return walk.end(rng.draw(p[node]))

    def explain(self, step: Step, node: int) -> str:
        return explain_coin(step, node, self.formula, self.first_formula)


class LeavesFirst(PlannedRule):
    """Each node after all nodes below it; the first success accepts the path to its node.

    A child is visited with the chance of its try as its own weight. `number` is what that is called
    in explanations.
    """

    leaves_first = True
    number: ClassVar[str] = "weight"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)

        def visit(node: int, weight: float) -> int | None:
            """Try the subtree of a node, itself last; the bonus token if a path was accepted, else
            None."""
            children = tree.children[node]
            if children:  # the row of a leaf is read only if it is accepted
                chart = Bars(p[node])
                tokens = [tree.tokens[child] for child in children]
                plan = self.plan(weight, p[node], tree.draft_distributions[node], tokens)
                for child, (share, rows, _) in zip(children, plan, strict=False):
                    tried = chart(tree.tokens[child], **rows)
                    walk.note(child, tried=tried, facts={self.number: share})
                    bonus = visit(child, share)
                    if bonus is not None:
                        return bonus
                # The children and all below them failed. The new weight is the chance with which
                # this node must be accepted now, so that all chances add up to its old weight.
                weight, rows, _ = next(plan)
            if node > 0 and not walk.toss(node, weight, rng):
                walk.decide(node, False)
                return None
            walk.accept_path(tree, node)
            # Below a leaf nothing was tried, so its whole row is still to be had; below any other
            # node the children already took their part of it.
            if not children:
                return rng.draw(p[node])
            bonus = rng.draw(rows["residual"])
            walk.note(node, after=chart(tokens[-1], bonus, **rows))
            return bonus

        bonus = visit(0, 1.0)
        assert bonus is not None  # the root is not tested
        return walk.end(bonus)

    def explain(self, step: Step, node: int) -> str:
        outcome, prob, coin = trial(step, node)
        if why := untried(step, node):
            return why
        if coin is None:
            return "Accepted without a test: a token below it was accepted first."
        below = " after all tokens below it were rejected" if node in step.parents else ""
        compared = "<" if outcome == "accepted" else "≥"
        return (
            f"{outcome.capitalize()}{below}: u = {coin:.3f} {compared} its {self.number} "
            f"{prob:.3f}."
        )
