"""Traversal verification (Weng et al. 2025, algorithm 3): block verification for trees, leaves first.

A node has a share, min(1, parent's share times r/d), and is tested after all its children were rejected. If it fails,
its parent has the residual r = norm([share r - d]+) and the share S / (S + 1 - share), S the mass of that residual.
"""

from __future__ import annotations

from ..distributions import Distributions, excess
from ..randomness import Randomness
from ..sampling import SequentialProposal
from ..tree import TokenTree
from .base import Verifier
from .walk import Walk, bars, carry, ratio, untried


class Traversal(Verifier):
    """One draw per node, leaves first; the first success accepts the path to its node."""

    name, title = "traversal", "Traversal verification"
    schemes = ("distinct",)
    leaves_first = True

    def __call__(self, tree, p, rng):
        walk = Walk(tree)
        return walk.end(_visit(tree, p, rng, walk, 0, 1.0))

    def explain(self, step, node):
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if why := untried(step, node):
            return why
        if coin is None:
            return "Accepted without a test: a token below it was accepted first."
        below = "" if all(parent != node for parent in step.parents) else " after all tokens below it were rejected"
        compared = "<" if outcome == "accepted" else "≥"
        return f"{outcome.capitalize()}{below}: u = {coin:.3f} {compared} its share {prob:.3f}."


def _visit(tree: TokenTree, p: Distributions, rng: Randomness, walk: Walk, node: int, share: float) -> int | None:
    """Try the subtree of `node`, itself last; the bonus token where a path was accepted, None if all were rejected."""
    if children := tree.children[node]:  # the row of a leaf is read only if it is accepted
        r, chart = p[node], bars(p[node])
        proposal = SequentialProposal(tree.draft_distributions[node], "distinct")
    for child in children:
        token, d = tree.tokens[child], proposal.row
        child_share = ratio(share * r[token], d[token])
        walk.note(child, facts={"ratio": child_share}, tried=chart(token, residual=r, draft=d))
        bonus = _visit(tree, p, rng, walk, child, child_share)
        if bonus is not None:
            return bonus
        left, mass = excess(share * r, d)
        share, r = carry(mass, share), left / mass if mass > 0 else r
        proposal.advance(token)
    if node > 0 and not walk.toss(node, share, rng):
        walk.outcome[node] = "rejected"
        return None
    for above in tree.topology.path(node):
        walk.mark(above, True)
    if not children:
        return rng.draw(p[node])
    bonus = rng.draw(r)
    walk.note(node, after=chart(token, bonus, residual=r))
    return bonus
