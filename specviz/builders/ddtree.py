"""DDTree: the most probable paths of all."""

from __future__ import annotations

from typing import ClassVar

from ..base.codec import JsonObject
from ..sampling.children import most_probable
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Draft, max_depth
from .ranked import RankedBuilder
from .worth import Rate


class DDTree(RankedBuilder):
    """The `size` - 1 nodes whose paths the draft finds most probable (DDTree, arXiv 2604.12989,
    algorithm 1).

    Unlike EAGLE-2 it does not expand a fixed number of nodes a level, so no path is missed. In
    the paper the draft gives one row per depth in one pass. Here a node's row may depend on its
    whole path, and all nodes that are among the best so far are read together, so a draft model
    makes at most `depth` passes.
    """

    name = "ddtree"
    title = "DDTree"
    small: ClassVar[JsonObject] = {"size": 4, "depth": 2}
    depth: int = max_depth(8)

    def __call__(
        self, draft: Draft, rng: Randomness, tokens_left: int, state: Rate | None
    ) -> TokenTree:
        tree = draft.tree
        deepest = min(self.depth, tokens_left - 1)
        agreement = state.agreement if state else 1.0
        path_prob = [1.0]
        best = [0]
        least = self.least_chance(state)
        unread = self.worth_reading(tree, best if deepest else [], path_prob, state)
        # Until the draft has read every node among the best: then no candidate is missing. A tree
        # that counts its cost ends where no node is worth another pass.
        while unread:
            # A path is never more probable than its beginning: what is not among the best by now
            # has no descendant that will be, and a child below the last of the best is out.
            floor = least
            if len(best) == self.limit:
                floor = path_prob[best[-1]]
            for node, q in zip(unread, draft.expand(unread), strict=True):
                for token in most_probable(q, min(self.limit, len(q))):
                    prob = path_prob[node] * agreement * float(q[token])
                    if prob <= floor:  # and so are all after it
                        break
                    tree.add(node, token)
                    path_prob.append(prob)
            best = sorted(range(len(tree)), key=lambda node: -path_prob[node])[: self.limit]
            read = tree.draft_distributions
            unread = [node for node in best if node not in read and tree.depths[node] < deepest]
            unread = self.worth_reading(tree, unread, path_prob, state)
        return self.keep_best(draft, path_prob, state)
