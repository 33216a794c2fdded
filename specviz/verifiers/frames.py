"""The two orders in which nodes are tried, and the `Selection` of a child of one node.

A path has a *weight*, the chance with which it, or a longer path that begins with it, must be
accepted. For one token it is min(1, p/q): with p = (0.3, 0.7) and q = (0.6, 0.4) the first token
has the weight 0.5, the second 1. S is the mass of [weight p - q]+, what the target wants beyond
the draft: here, with the weight 1, [0.3 - 0.6]+ + [0.7 - 0.4]+ = 0.3.

A node of weight w has one child. The child is accepted with w - S in all, so it fails with
1 - w + S. To total w, the node is accepted then with S / (1 - w + S) (`decisions.carry`). With
w = 0.8 here, S is [0.24 - 0.6]+ + [0.56 - 0.4]+ = 0.16: 0.64 + 0.36 * (0.16 / 0.36) = 0.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from ..record.step import Step
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import ShownRows, Verdict, Verifier
from .decisions import Decisions
from .explanations import explain_coin, untried


@dataclass(eq=False)
class Selection:
    """How a rule selects one of the children of a node: it tries them in the order in which they
    were drawn, until one is accepted.

    Args:
        weight: the chance with which the node, or one below it, must be accepted; once all
            children failed, the chance with which the node itself must be.
        p, q: the target's and the draft's row after the node, float64 [V].
        tokens: its children.
        scheme: how they were drawn.
        rows, facts: rows, [V], and numbers that are shown with the current child.

    Attributes:
        residual: what the target's token is drawn from once all children failed, [V], up to a
            factor.
    """

    weight: float
    p: np.ndarray
    q: np.ndarray
    tokens: Sequence[int]
    scheme: str
    rows: Mapping[str, np.ndarray] = field(default_factory=dict)
    facts: Mapping[str, float] = field(default_factory=dict)
    residual: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        """Prepare for the first child."""
        raise NotImplementedError

    def chance(self, token: int) -> float:
        """The chance to accept the current child, which has this token."""
        raise NotImplementedError

    def reject(self, token: int) -> None:
        """Go on to the next child, with what the current one leaves."""


class SelectionRule(Verifier):
    """A rule that selects among the children of one node after the other."""

    selection: ClassVar[type[Selection]]


def draw_rest(selection: Selection, node: int, decisions: Decisions, rng: Randomness) -> int:
    """The target's own token after a node, from what its children left of the row."""
    bonus = rng.draw(selection.residual)
    tokens = (selection.tokens[-1], bonus)
    decisions.note(node, after=ShownRows(node, tokens, {"residual": selection.residual}))
    return bonus


class TopDown(SelectionRule):
    """The children of a node in turn, from the root on; the walk goes on from the first that is
    accepted. `formula` stands for a child's chance in explanations, `first_formula` for that of a
    first child."""

    formula: ClassVar[str] = "min(1, residual/remaining draft)"
    first_formula: ClassVar[str] = "min(1, p/q)"

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)
        node = 0  # the last accepted one
        while children := tree.children[node]:
            q = tree.draft_distributions[node]
            if self.only_support:
                # Known before any is drawn, so the choice tells nothing about the draws.
                children = children[: int((q > 0).sum())]
            tokens = [tree.tokens[child] for child in children]
            selection = self.selection(1.0, p[node], q, tokens, self.schemes[0])
            for child, token in zip(children, tokens, strict=True):
                chance = selection.chance(token)
                rows = ShownRows(node, (token,), selection.rows)
                decisions.note(child, tried=rows, facts=selection.facts)
                if decisions.accept(child, chance, rng):
                    node = child
                    break
                # What is left of the row is computed only now that the child was rejected.
                selection.reject(token)
            else:  # no child was accepted, so the target's own token comes from what is left
                return decisions.verdict(draw_rest(selection, node, decisions, rng))
        return decisions.verdict(rng.draw(p[node]))

    def explain(self, step: Step, node: int) -> str:
        return explain_coin(step, node, self.formula, self.first_formula)


class LeavesFirst(SelectionRule):
    """Each node after all nodes below it; the first success accepts the path to its node.

    A child is visited with its chance as its own weight. `number` is what that is called in
    explanations, `meaning` what follows it there.
    """

    leaves_first = True
    number: ClassVar[str] = "weight"
    meaning: ClassVar[str] = ""

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        decisions = Decisions(tree)

        def visit(node: int, weight: float) -> int | None:
            """Try the subtree of a node, itself last; the bonus token if a path was accepted, else
            None."""
            children = tree.children[node]
            if children:  # the row of a leaf is read only if it is accepted
                q = tree.draft_distributions[node]
                tokens = [tree.tokens[child] for child in children]
                selection = self.selection(weight, p[node], q, tokens, self.schemes[0])
                for child, token in zip(children, tokens, strict=True):
                    chance = selection.chance(token)
                    rows = ShownRows(node, (token,), selection.rows)
                    decisions.note(child, tried=rows, facts={self.number: chance})
                    bonus = visit(child, chance)
                    if bonus is not None:
                        return bonus
                    selection.reject(token)
                # The children and all below them failed. The new weight is the chance with which
                # this node must be accepted now, so that all chances add up to its old weight.
                weight = selection.weight
            if node > 0 and not decisions.compare(node, weight, rng):
                decisions.decide(node, False)
                return None
            decisions.accept_path(node)
            # Below a leaf nothing was tried, so its whole row is still to be had; below any other
            # node the children already took their part of it.
            if not children:
                return rng.draw(p[node])
            return draw_rest(selection, node, decisions, rng)

        bonus = visit(0, 1.0)
        assert bonus is not None  # the root is not tested
        return decisions.verdict(bonus)

    def explain(self, step: Step, node: int) -> str:
        if why := untried(step, node):
            return why
        outcome = step.outcome[node]
        coin = step.coin[node]
        if coin is None:
            return "Accepted without a test: a token below it was accepted first."
        below = " after all tokens below it were rejected" if node in step.parents else ""
        compared = "<" if outcome == "accepted" else "≥"
        return (
            f"{outcome.capitalize()}{below}: u = {coin:.3f} {compared} its {self.number} "
            f"{step.accept_prob[node]:.3f}{self.meaning}."
        )
