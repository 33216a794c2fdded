"""Block verification of a chain (Sun et al. 2024, algorithm 2): the longest prefix whose draw succeeds is accepted.

`share` is p/q multiplied along the chain, capped at 1 at every token.
"""

from __future__ import annotations

from ..distributions import excess, residual
from ..sampling import SequentialProposal
from .base import Verifier
from .walk import ROOT, Walk, bars, carry, ratio


class Block(Verifier):
    """One draw per token of a chain; the last success accepts all tokens before it."""

    name, title = "block", "Block verification"
    schemes = ("iid", "distinct")
    chain_only = True

    def __call__(self, tree, p, rng):
        walk, last, accepted, share = Walk(tree), len(tree) - 1, 0, [1.0]
        rows = [SequentialProposal(tree.draft_distributions[node], "iid").row for node in range(last)]
        for node in range(1, last + 1):  # in a chain the parent of a node is the one before it
            token = tree.tokens[node]
            share.append(ratio(share[-1] * p[node - 1][token], rows[node - 1][token]))
            prob = share[node]
            if node < last:
                prob = carry(excess(prob * p[node], rows[node])[1], prob)
            walk.note(node, facts={"ratio": share[node]})
            if walk.toss(node, prob, rng):
                accepted = node
        for node in range(1, last + 1):
            walk.mark(node, node <= accepted)
        if accepted == last:
            return walk.end(rng.draw(p[last]))
        left = residual(share[accepted] * p[accepted], rows[accepted])
        walk.note(accepted, after=bars(p[accepted])(tree.tokens[accepted + 1], residual=left))
        return walk.end(rng.draw(left))

    def explain(self, step, node):
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if outcome == "root":
            return ROOT
        if coin < prob:
            return f"Accepted: u = {coin:.3f} < {prob:.3f}, which accepts the block up to this token."
        if outcome == "accepted":
            return f"Accepted although u = {coin:.3f} ≥ {prob:.3f}: the test of a later token passed."
        return f"Rejected: u = {coin:.3f} ≥ {prob:.3f}, and no later token passed."
