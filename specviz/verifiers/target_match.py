"""Draw the target's token first, then accept the child that has it: the naive and top-k rule.

Unlike the rules that compare p with q it never looks at how children were drawn, so any tree is lossless; but the
chance to accept is the children's mass under p, less than what a coupling of p and q can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..protocols import Verifier
from .walk import Walk, explain_unreached


@dataclass(frozen=True)
class TargetMatch(Verifier):
    """One draw from p per accepted node, and one more."""

    name: ClassVar[str] = "target-match"
    title: ClassVar[str] = "Target match"
    laws: ClassVar[tuple[str, ...]] = ("top", "distinct", "iid")
    reads_draft: ClassVar[bool] = False

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while True:
            token = rng.draw(p[node])
            for child in tree.children[node]:
                walk.accept_prob[child] = float(p[node][tree.tokens[child]])
                walk.mark(child, tree.tokens[child] == token)
                if tree.tokens[child] == token:
                    break
            else:
                return walk.end(token)
            node = child

    def explain(self, step, node):
        outcome = step.outcome[node]
        if outcome == "root":
            return "The last committed token: the tree grows from here."
        if outcome == "unreached":
            return explain_unreached(step, node)
        if outcome == "accepted":
            return "Accepted: the target's own draw was this very token."
        return "Rejected: the target's own draw was another token."
