"""Trees cut from a ranking: the likeliest of all candidates, as many as asked for or as are worth
their cost (`worth`).

A drawn token may not be dropped because of its value, so children are the draft's most probable
tokens instead of draws, and only rules that never compare with q keep these trees lossless.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..tree import Chart, Growth, TokenTree
from .base import Draft
from .worth import Rate, RatedBuilder, best_count

CUT = 8  # how many of the candidates that were cut are recorded


class RankedBuilder(RatedBuilder):
    """A builder that ranks candidates by the draft's probability of their paths and keeps the
    best; with size "auto" the probability is what the draft's would be worth in this run."""

    key_title = "the draft's probability of its path"
    schemes = ("top",)
    stops_at_support = True

    def keep_best(self, draft: Draft, path_prob: Sequence[float], state: Rate | None) -> TokenTree:
        """The tree of the best candidates.

        Args:
            draft: with all candidates in its tree.
            path_prob: the draft's probability of each one's path, [n], the root's 1 first.
            state: the rate so far, for size auto.
        """
        candidates = draft.tree
        # Stable, so parents stand before their children.
        ranked = sorted(range(len(candidates)), key=lambda node: -path_prob[node])
        weights = [path_prob[node] for node in ranked]
        size = self.limit
        if state is not None:
            size = best_count(weights[: self.limit], self.step_costs, self.price(state))
        tree = subtree(candidates, ranked[:size], path_prob)
        cut = slice(size, size + CUT)  # the best of those that are left out, for the picture
        chart = Chart(
            tuple(candidates.tokens[node] for node in ranked[cut]), {"keys": tuple(weights[cut])}
        )
        cost = None
        if state is not None:
            cost = self.step_cost(tree, draft.widths)
        expected = sum(weights[:size])
        tree.growth = Growth(candidates=len(ranked) - 1, cut=chart, expected=expected, cost=cost)
        return tree


def subtree(tree: TokenTree, nodes: Sequence[int], keys: Sequence[float]) -> TokenTree:
    """Some `nodes` of a tree as a tree, numbered in this order: the root first, parents before
    children."""
    # A new tree of the same root: the drafter still holds the one that it has read.
    best = TokenTree(tree.tokens[0], tree.start, tree.scheme)
    number = {0: 0}
    for node in nodes[1:]:
        number[node] = best.add(number[tree.parents[node]], tree.tokens[node], keys[node])
    # The drafter commits by the numbers of the tree that it read, so they are kept.
    best.origin = {number[node]: node for node in sorted(nodes)}
    for new, node in best.origin.items():
        if node in tree.draft_distributions:
            best.draft_distributions[new] = tree.draft_distributions[node]
    return best
