"""Block verification: of a chain (Sun et al. 2024, algorithm 2), and of a tree (Weng et al. 2025,
algorithm 3).

A node's weight is p/q multiplied along its path, capped at 1 at every token. A rule that accepts a
path by one draw on its weight accepts at least as much as draws on single tokens.
"""

from __future__ import annotations

from ..sampling.children import SequentialProposal
from ..sampling.distributions import excess, residual
from .base import Verifier
from .walk import ROOT, Walk, bars, ratio, untried


class Block(Verifier):
    """One draw per token of a chain; the last success accepts all tokens up to it."""

    name, title = "block", "Block verification"
    schemes = ("iid", "distinct")
    chain_only = True

    def __call__(self, tree, p, rng):
        walk, last, accepted, weight = Walk(tree), len(tree) - 1, 0, [1.0]
        rows = [
            SequentialProposal(tree.draft_distributions[node], "iid").row for node in range(last)
        ]
        for node in range(1, last + 1):  # in a chain the parent of a node is the one before it
            token = tree.tokens[node]
            weight.append(ratio(weight[-1] * p[node - 1][token], rows[node - 1][token]))
            prob = weight[node]
            if node < last:
                prob = carry(excess(prob * p[node], rows[node])[1], prob)
            walk.note(node, facts={"ratio": weight[node]})
            if walk.toss(node, prob, rng):
                accepted = node
        for node in range(1, last + 1):
            walk.decide(node, node <= accepted)
        if accepted == last:
            return walk.end(rng.draw(p[last]))
        left = residual(weight[accepted] * p[accepted], rows[accepted])
        bonus = rng.draw(left)
        walk.note(
            accepted, after=bars(p[accepted])(tree.tokens[accepted + 1], bonus, residual=left)
        )
        return walk.end(bonus)

    def explain(self, step, node):
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if outcome == "root":
            return ROOT
        if coin < prob:
            return (
                f"Accepted: u = {coin:.3f} < {prob:.3f}, which accepts the block up to this token."
            )
        if outcome == "accepted":
            return (
                f"Accepted although u = {coin:.3f} ≥ {prob:.3f}: the test of a later token passed."
            )
        return f"Rejected: u = {coin:.3f} ≥ {prob:.3f}, and no later token passed."


class Traversal(Verifier):
    """One draw per node of a tree, leaves first; the first success accepts the path to its node.

    A node's weight is min(1, its parent's weight times r/d). If all its children are rejected it
    has the residual r = norm([weight r - d]+) and the weight S / (S + 1 - weight), S the mass of
    that residual, with which it is tested.
    """

    name, title = "traversal", "Traversal verification"
    schemes = ("distinct",)
    leaves_first = True

    def __call__(self, tree, p, rng):
        walk = Walk(tree)

        def visit(node: int, weight: float) -> int | None:
            """Try the subtree of a node, itself last; the bonus token if a path was accepted, else
            None."""
            if children := tree.children[node]:  # the row of a leaf is read only if it is accepted
                r, chart = p[node], bars(p[node])
                proposal = SequentialProposal(tree.draft_distributions[node], "distinct")
            for child in children:
                token, d = tree.tokens[child], proposal.row
                child_weight = ratio(weight * r[token], d[token])
                walk.note(
                    child, facts={"ratio": child_weight}, tried=chart(token, residual=r, draft=d)
                )
                bonus = visit(child, child_weight)
                if bonus is not None:
                    return bonus
                left, mass = excess(weight * r, d)
                weight, r = carry(mass, weight), left / mass if mass > 0 else r
                proposal.advance(token)
            if node > 0 and not walk.toss(node, weight, rng):
                walk.outcome[node] = "rejected"
                return None
            for above in tree.topology.path(node):
                walk.decide(above, True)
            if not children:
                return rng.draw(p[node])
            bonus = rng.draw(r)
            walk.note(node, after=chart(token, bonus, residual=r))
            return bonus

        return walk.end(visit(0, 1.0))

    def explain(self, step, node):
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if why := untried(step, node):
            return why
        if coin is None:
            return "Accepted without a test: a token below it was accepted first."
        below = (
            ""
            if all(parent != node for parent in step.parents)
            else " after all tokens below it were rejected"
        )
        compared = "<" if outcome == "accepted" else "≥"
        return f"{outcome.capitalize()}{below}: u = {coin:.3f} {compared} its weight {prob:.3f}."


def carry(excess_mass: float, weight: float) -> float:
    """What is left of a path's acceptance `weight` once a continuation was rejected, S / (S + 1 -
    weight).

    `excess_mass` is S, the mass sum [weight p - q]+ (Sun et al. 2024, equation 4; Weng et al. 2025,
    equation 3).
    """
    total = excess_mass + (1.0 - weight)  # in this order a weight of 1 stays 1, however small S is
    return float(excess_mass / total) if total > 0 else 1.0
