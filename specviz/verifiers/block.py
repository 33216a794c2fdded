"""Block verification: of a chain (Sun et al. 2024, algorithm 2), of the best of several chains
(Thomas et al. 2026), and of a tree (Weng et al. 2025, algorithm 3).

A node's weight is p/q multiplied along its path, capped at 1 at every token. A rule that accepts a
path by one draw on its weight accepts at least as much as draws on single tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from ..record.step import Step
from ..sampling.children import SequentialProposal
from ..sampling.distributions import Distributions, excess, residual
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .walk import ROOT, Bars, Walk, carry, ratio, untried


class Block(Verifier):
    """One draw per token of a chain; the last success accepts all tokens up to it.

    Where a token is too probable under the draft, what continuations have in excess pays for it.
    Hierarchical speculative decoding (Zhou et al. 2026, algorithm 2) is the same rule, written with
    joint probabilities.
    """

    name, title = "block", "Block verification"
    schemes: ClassVar[tuple[str, ...]] = ("iid", "distinct")
    chain_only = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        path = range(1, len(tree))
        rows = [first_row(tree, node) for node in range(len(tree) - 1)]
        return verify_path(tree, path, rows, p, rng)

    def explain(self, step: Step, node: int) -> str:
        outcome, prob, coin = step.outcome[node], step.accept_prob[node], step.coin[node]
        if outcome == "root":
            return ROOT
        if prob is None or coin is None:
            return f"{outcome.capitalize()}."
        if coin < prob:
            return (
                f"Accepted: u = {coin:.3f} < {prob:.3f}, which accepts the block up to this token."
            )
        if outcome == "accepted":
            return (
                f"Accepted although u = {coin:.3f} ≥ {prob:.3f}: the test of a later token passed."
            )
        return f"Rejected: u = {coin:.3f} ≥ {prob:.3f}, and no later token passed."


class GreedyMultiPath(Block):
    """Of several independent chains the one that suits the target best, by block verification.

    The chain with the largest p/q at its first token is chosen, among equals by the second, and so
    on; ties between tokens go to the higher id, since a draw must not depend on which chain it was.
    Block verification then compares with the distribution of the chosen chain. The choice can hurt:
    with q = p every order is arbitrary, and three uniform tokens of a vocabulary of two are
    accepted 2.11 at a time with two chains, all 3 with one.
    """

    name, title = "gbv", "Greedy multi-path block verification"
    schemes = ("iid",)
    chain_only = False
    paths_only = True
    depends_on_siblings = True
    one_row = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        chains = len(tree.children[0])
        path: list[int] = []
        rows: list[np.ndarray] = []
        nodes = [0]  # those that share the text of the chosen prefix
        below, prefix, chosen = 0.0, 1.0, 1.0
        while children := [child for node in nodes for child in tree.children[node]]:
            q = first_row(tree, nodes[0])
            above = p[nodes[0]]
            with np.errstate(divide="ignore", invalid="ignore"):
                order = np.argsort(np.where(q > 0, above / q, np.inf), kind="stable")
            # The chosen chain is the largest of `chains` draws. `smaller` is the chance that one
            # draw is smaller than this prefix and token, so the largest of all is this one with
            # (smaller + prefix q)^chains - smaller^chains.
            smaller = np.empty_like(q)
            smaller[order] = below + prefix * (np.cumsum(q[order]) - q[order])
            law = power_difference(smaller, prefix * q, chains)
            rank = np.empty(len(q), int)
            rank[order] = np.arange(len(q))
            token = max((tree.tokens[child] for child in children), key=lambda one: rank[one])
            nodes = [child for child in children if tree.tokens[child] == token]
            path.append(nodes[0])
            rows.append(law / chosen if chosen > 0 else law)  # 0 below a token that q excludes
            below, prefix, chosen = float(smaller[token]), prefix * float(q[token]), law[token]
        return verify_path(tree, path, rows, p, rng)

    def explain(self, step: Step, node: int) -> str:
        if step.outcome[node] == "unreached":
            return "Not visited: another chain has larger p/q where the two part."
        return super().explain(step, node)


class Traversal(Verifier):
    """One draw per node of a tree, leaves first; the first success accepts the path to its node.

    A node's weight is min(1, its parent's weight times r/d). If all its children are rejected it
    has the residual r = norm([weight r - d]+) and the weight S / (S + 1 - weight), S the mass of
    that residual, with which it is tested.
    """

    name, title = "traversal", "Traversal verification"
    schemes = ("distinct",)
    leaves_first = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)

        def visit(node: int, weight: float) -> int | None:
            """Try the subtree of a node, itself last; the bonus token if a path was accepted, else
            None."""
            if not tree.children[node]:  # the row of a leaf is read only if it is accepted
                accepted = node == 0 or accept_path(node, weight)
                return rng.draw(p[node]) if accepted else None
            r, chart = p[node], Bars(p[node])
            proposal = SequentialProposal(tree.draft_distributions[node], "distinct")
            for child in tree.children[node]:
                token, d = tree.tokens[child], proposal.row
                child_weight = ratio(weight * r[token], d[token])
                walk.note(
                    child, facts={"ratio": child_weight}, tried=chart(token, residual=r, draft=d)
                )
                bonus = visit(child, child_weight)
                if bonus is not None:
                    return bonus
                # The child and all below it failed: its share of p is spent, and the node's weight
                # is what the acceptance of the others must still add up to.
                left, mass = excess(weight * r, d)
                weight = carry(mass, weight)
                if mass > 0:
                    r = left / mass
                proposal.advance(token)
            if node > 0 and not accept_path(node, weight):
                return None
            bonus = rng.draw(r)
            walk.note(node, after=chart(token, bonus, residual=r))
            return bonus

        def accept_path(node: int, weight: float) -> bool:
            """Test a node whose children all failed, and accept the path to it."""
            if not walk.toss(node, weight, rng):
                walk.decide(node, False)
                return False
            walk.accept_path(tree, node)
            return True

        bonus = visit(0, 1.0)
        assert bonus is not None  # the root is not tested
        return walk.end(bonus)

    def explain(self, step: Step, node: int) -> str:
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


def first_row(tree: TokenTree, node: int) -> np.ndarray:
    """The distribution that the first child of a node was drawn from, float64 [V]."""
    return SequentialProposal(tree.draft_distributions[node], "iid").row


def power_difference(smaller: np.ndarray, step: np.ndarray, exponent: int) -> np.ndarray:
    """(smaller + step)^exponent - smaller^exponent, float64 [V], without cancellation."""
    larger = smaller + step
    terms = [larger**i * smaller ** (exponent - 1 - i) for i in range(exponent)]
    return step * np.sum(terms, axis=0)


def verify_path(
    tree: TokenTree,
    path: Sequence[int],
    rows: Sequence[np.ndarray],
    p: Distributions,
    rng: Randomness,
) -> Verdict:
    """Block verification of one path.

    Args:
        tree, p, rng: as a rule is given them.
        path: the nodes from below the root downwards.
        rows: the distribution that each of their tokens was drawn from, float64 [V] each.
    """
    walk = Walk(tree)
    above = [0, *path]
    weights = [1.0]
    accepted = 0  # how many tokens of the path
    for level, child in enumerate(path):
        node, token = above[level], tree.tokens[child]
        prob = ratio(weights[level] * p[node][token], rows[level][token])
        weights.append(prob)
        walk.note(child, facts={"ratio": prob})
        if level + 1 < len(path):
            # A path may end here although its weight is 1: the continuation it would have accepted
            # is drawn from the residual then. So the test is on the mass that is left over.
            node = child
            prob = carry(excess(prob * p[node], rows[level + 1])[1], prob)
        if walk.toss(child, prob, rng):
            accepted = level + 1
    for level, child in enumerate(path, 1):
        walk.decide(child, level <= accepted)
    end = above[accepted]
    if accepted == len(path):
        return walk.end(rng.draw(p[end]))
    left = residual(weights[accepted] * p[end], rows[accepted])
    bonus = rng.draw(left)
    rejected = tree.tokens[path[accepted]]
    walk.note(end, after=Bars(p[end])(rejected, bonus, residual=left))
    return walk.end(bonus)
