"""Optimal transport for children that are the draft's k - 1 most probable tokens and one draw.

F are the most probable tokens, y is the draw from q' = norm(q without F). Every child gets a share
of the node's weight, and no other shares accept more: y gets min(1, weight p / q'), and F what the
draw leaves, in proportion to p. `GreedyDraft` decides from the root down, `Transport` from the
leaves up.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..record.step import Step
from ..sampling.children import without
from ..sampling.distributions import Distributions, excess
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .walk import Bars, Walk, carry, explain_coin, ratio, untried


@dataclass(frozen=True)
class Plan:
    """How the weight of a node is shared out.

    Attributes:
        shares: the chance that each child, or a node below it, is accepted, [k].
        residual: the distribution of the target's token once all children failed, float64 [V].
        excess_mass: what the target has beyond the shares, sum [weight p - q']+ outside F.
    """

    shares: list[float]
    residual: np.ndarray
    excess_mass: float


def plan(weight: float, p: np.ndarray, q: np.ndarray, tokens: Sequence[int]) -> Plan:
    """The plan of a node (Hu et al. 2025 with weight 1; any weight by the frame of Weng et al.
    2026, reconstructed here from its abstract).

    Args:
        weight: the chance that the node or one below it is accepted.
        p, q: the target's and the draft's row after the node, float64 [V].
        tokens: its children, the draw last.
    """
    top, drawn = list(tokens[:-1]), tokens[-1]
    draft = without(q, top)
    share = ratio(weight * p[drawn], draft[drawn])
    left, mass = excess(weight * p, draft)
    if top:
        left[top] = 0.0
        mass = float(left.sum())
    wanted = weight * p[top]
    # What the draw leaves to F on average, sum [q' - weight p]+. In this order of summation it is
    # never below what F wants, however small the numbers are.
    spare = mass + (1.0 - weight) + float(wanted.sum())
    shares = (1.0 - share) * wanted / spare if spare > 0 else wanted
    residual = left / mass if mass > 0 else p
    return Plan([*shares.tolist(), share], residual, mass)


class GreedyDraft(Verifier):
    """The children in turn, each with its share of what those before it left (Hu et al. 2025).

    Its paper calls it Greedy, after the draft's most probable tokens; it works at any temperature.
    """

    name, title = "greedy-draft", "Greedy draft"
    schemes = ("top-draw",)
    own_scheme_only = True
    depends_on_siblings = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            tokens = [tree.tokens[child] for child in children]
            shared = plan(1.0, p[node], tree.draft_distributions[node], tokens)
            chart, left = Bars(p[node]), 1.0
            for child, share in zip(children, shared.shares, strict=True):
                walk.note(child, tried=chart(tree.tokens[child]))
                if walk.flip(child, ratio(share, left), rng):
                    node = child
                    break
                left -= share
            else:
                bonus = rng.draw(shared.residual)
                walk.note(node, after=chart(tokens[-1], bonus, residual=shared.residual))
                return walk.end(bonus)
        return walk.end(rng.draw(p[node]))

    def explain(self, step: Step, node: int) -> str:
        return explain_coin(step, node, "share/what the children before it left", first="its share")


class Transport(Verifier):
    """The shares of every node, leaves first; the first success accepts the path to its node.

    A child is visited with its share of the node's weight as its own weight. If all children fail
    the node itself is tested with S / (S + 1 - weight), S the target's excess over the shares.
    """

    name, title = "transport", "Transport"
    schemes = ("top-draw",)
    own_scheme_only = True
    depends_on_siblings = True
    leaves_first = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)

        def visit(node: int, weight: float) -> int | None:
            """Try the subtree of a node, itself last; the bonus token if a path was accepted, else
            None."""
            children = tree.children[node]
            test = weight  # with which the node is tested once its children failed
            if children:
                tokens = [tree.tokens[child] for child in children]
                shared = plan(weight, p[node], tree.draft_distributions[node], tokens)
                left = 1.0
                for child, share in zip(children, shared.shares, strict=True):
                    bonus = visit(child, ratio(share, left))
                    if bonus is not None:
                        return bonus
                    left -= share
                test = carry(shared.excess_mass, weight)
            if node > 0 and not walk.toss(node, test, rng):
                walk.decide(node, False)
                return None
            walk.accept_path(tree, node)
            residual = shared.residual if children else p[node]
            bonus = rng.draw(residual)
            if children:
                walk.note(node, after=Bars(p[node])(tokens[-1], bonus, residual=residual))
            return bonus

        bonus = visit(0, 1.0)
        assert bonus is not None  # the root is not tested
        return walk.end(bonus)

    def explain(self, step: Step, node: int) -> str:
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if why := untried(step, node):
            return why
        if coin is None:
            return "Accepted without a test: a token below it was accepted first."
        compared = "<" if outcome == "accepted" else "≥"
        return f"{outcome.capitalize()}: u = {coin:.3f} {compared} its share {prob:.3f}."
