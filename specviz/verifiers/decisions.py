"""What a rule decides about a tree, recorded while it decides, and what several rules compute."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..sampling.children import SequentialProposal
from ..sampling.distributions import Distributions
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict


class Decisions:
    """The decisions of a rule about one `tree`: which nodes it tried, with what chance, and what
    became of them."""

    def __init__(self, tree: TokenTree) -> None:
        self.tree = tree
        # What the rule never comes to stays "unreached".
        self.outcome = ["root"] + ["unreached"] * (len(tree) - 1)
        for node in tree.probes:
            self.outcome[node] = "probe"
        self.accept_prob: list[float | None] = [None] * len(tree)
        self.coin: list[float | None] = [None] * len(tree)
        self.order: list[int] = []  # the nodes that were tried, first to last
        self.path: list[int] = []
        self.detail: dict[int, dict[str, object]] = {}

    def accept(self, node: int, prob: float, rng: Randomness) -> bool:
        """Try a node: accept it with probability `prob`, else reject it."""
        accepted = self.compare(node, prob, rng)
        self.decide(node, accepted)
        return accepted

    def compare(self, node: int, prob: float, rng: Randomness) -> bool:
        """Try a node without deciding on it: whether a uniform draw u is below `prob`. It is for
        rules in which the draw of one node decides on several."""
        is_below, coin = rng.flip(prob)
        self.order.append(node)
        self.accept_prob[node] = float(prob)
        self.coin[node] = coin
        return is_below

    def decide(self, node: int, accepted: bool) -> None:
        """Record what becomes of a node; accepted ones come from the root downwards."""
        self.outcome[node] = "accepted" if accepted else "rejected"
        if accepted:
            self.path.append(node)

    def accept_path(self, node: int) -> None:
        """Accept a node and all nodes above it, those above without a try."""
        for above in self.tree.topology.path(node):
            self.decide(above, True)

    def note(self, node: int, **fields: object) -> None:
        """Note what is to be shown with a node, see `Verdict.detail`."""
        self.detail.setdefault(node, {}).update(fields)

    def follow(self, token_after: Callable[[int], int], p: Distributions | None = None) -> Verdict:
        """Ask for the target's token after each node, and go on from the child that has it.

        Args:
            token_after: the target's token after a node; called once for each node that is reached.
            p: the target's rows where the token was drawn from them, so that a child is accepted
                with its probability.
        """
        node = 0
        while True:
            token = token_after(node)
            for child in self.tree.children[node]:
                is_match = self.tree.tokens[child] == token
                self.order.append(child)
                if p is not None:
                    self.accept_prob[child] = float(p[node][self.tree.tokens[child]])
                self.decide(child, is_match)
                if is_match:  # of equal siblings the first one counts
                    break
            else:  # nobody drafted it, so the text gets the target's token and the step ends
                return self.verdict(token)
            node = child

    def verdict(self, bonus: int) -> Verdict:
        """All decisions; the target adds the token `bonus` after the last accepted node."""
        return Verdict(
            path=tuple(self.path),
            bonus=int(bonus),
            outcome=tuple(self.outcome),
            accept_prob=tuple(self.accept_prob),
            coin=tuple(self.coin),
            order=tuple(self.order),
            detail=self.detail,
        )


def first_row(tree: TokenTree, node: int) -> np.ndarray:
    """The distribution that the first child of a node was drawn from, float64 [V]."""
    return SequentialProposal(tree.draft_distributions[node], "iid").row


def ratio(p: float, q: float) -> float:
    """min(1, p / q); a child the draft gave no mass is accepted exactly where the target has
    some."""
    if q > 0:
        return min(1.0, float(p / q))
    return 1.0 if p > 0 else 0.0


def carry(excess_mass: float, weight: float) -> float:
    """What is left of a path's acceptance `weight` once a continuation was rejected, S / (S + 1 -
    weight).

    `excess_mass` is S, the mass sum [weight p - q]+ (Sun et al. 2024, equation 4; Weng et al. 2025,
    equation 3).
    """
    total = excess_mass + (1.0 - weight)  # in this order a weight of 1 stays 1, however small S is
    return float(excess_mass / total) if total > 0 else 1.0
