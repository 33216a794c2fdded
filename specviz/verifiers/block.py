"""Block verification of a chain (Sun et al. 2024, algorithm 2), and of the best of several chains
(Thomas et al. 2026).

A node's weight is p/q multiplied along its path, capped at 1 at every token. A rule that accepts a
path by one draw on its weight accepts at least as much as draws on single tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import ClassVar

import numpy as np

from ..record.step import Step
from ..sampling.distributions import Distributions, excess, residual
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import ShownRows, Verdict, Verifier
from .decisions import Decisions, carry, first_row, ratio
from .explanations import ROOT


class Block(Verifier):
    """One draw per token of a chain; the last success accepts all tokens up to it.

    Where a token is too probable under the draft, what continuations have in excess pays for it.
    Hierarchical speculative decoding (Zhou et al. 2026, algorithm 2) is the same rule, written with
    joint probabilities.
    """

    name = "block"
    title = "Block verification"
    schemes: ClassVar[tuple[str, ...]] = ("iid", "distinct")
    chain_only = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        path = range(1, len(tree))
        rows = [first_row(tree, node) for node in range(len(tree) - 1)]
        return verify_path(tree, path, rows, p, rng)

    def explain(self, step: Step, node: int) -> str:
        outcome = step.outcome[node]
        prob = step.accept_prob[node]
        coin = step.coin[node]
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
                "Accepted: a later token of its block passed, which accepts all before it. Its own "
                f"test alone had failed: u = {coin:.3f} ≥ {prob:.3f}."
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

    name = "gbv"
    title = "Greedy multi-path block verification"
    schemes = ("iid",)
    chain_only = False
    paths_only = True
    depends_on_siblings = True
    one_row = True

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        # Each chain begins with a child of the root.
        chains = len(tree.children[0])
        path: list[int] = []
        rows: list[np.ndarray] = []
        nodes = [0]  # those that share the text of the chosen prefix
        below = 0.0
        prefix = chosen = 1.0
        while children := list(chain.from_iterable(tree.children[node] for node in nodes)):
            q = first_row(tree, nodes[0])
            above = p[nodes[0]]
            # Tokens in the order of p/q; stable, so that equal ones keep the order of their ids.
            with np.errstate(divide="ignore", invalid="ignore"):
                order = np.argsort(np.where(q > 0, above / q, np.inf), kind="stable")
            # The chosen chain is the largest of `chains` draws. `smaller` is the chance that one
            # draw is smaller than this prefix and token, so the largest of all is this one with
            # (smaller + prefix q)^chains - smaller^chains.
            smaller = np.empty_like(q)
            smaller[order] = below + prefix * (np.cumsum(q[order]) - q[order])
            law = power_difference(smaller, prefix * q, chains)
            rank = np.argsort(order)
            token = max((tree.tokens[child] for child in children), key=rank.__getitem__)
            nodes = [child for child in children if tree.tokens[child] == token]
            path.append(nodes[0])
            rows.append(law / chosen if chosen > 0 else law)  # 0 below a token that q excludes
            below = float(smaller[token])
            prefix *= float(q[token])
            chosen = law[token]
        return verify_path(tree, path, rows, p, rng)

    def explain(self, step: Step, node: int) -> str:
        if step.outcome[node] == "unreached":
            return "Not visited: another chain has larger p/q where the two part."
        return super().explain(step, node)


def power_difference(smaller: np.ndarray, step: np.ndarray, exponent: int) -> np.ndarray:
    """(smaller + step)^exponent - smaller^exponent, float64 [V], without cancellation."""
    # a^k - b^k = (a - b) (a^(k-1) + a^(k-2) b + ... + b^(k-1)): nothing large is subtracted.
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
    decisions = Decisions(tree)
    above = [0, *path]
    weights = [1.0]
    accepted = 0  # how many tokens of the path
    for level, child in enumerate(path):
        node = above[level]
        token = tree.tokens[child]
        # The weight of the path so far times p/q of its token, capped at 1 at every token: what is
        # above 1 is not saved up for the tokens below, or the path would be accepted too often.
        prob = ratio(weights[level] * p[node][token], rows[level][token])
        weights.append(prob)
        decisions.note(child, facts={"ratio": prob})
        if level + 1 < len(path):
            # If the longer paths fail, this one is accepted with S / (S + 1 - weight): its own
            # chance, given that they failed.
            prob = carry(excess(prob * p[child], rows[level + 1])[1], prob)
        # A later success overrules an earlier failure: it accepts all tokens down to its own.
        if decisions.compare(child, prob, rng):
            accepted = level + 1
    for level, child in enumerate(path, 1):
        decisions.decide(child, level <= accepted)
    end = above[accepted]
    if accepted == len(path):
        return decisions.verdict(rng.draw(p[end]))
    # What the path had left of the target's row after the rejected token took its part.
    left = residual(weights[accepted] * p[end], rows[accepted])
    bonus = rng.draw(left)
    rejected = tree.tokens[path[accepted]]
    decisions.note(end, after=ShownRows(end, (rejected, bonus), {"residual": left}))
    return decisions.verdict(bonus)
