"""Draw the target's token first, then accept the child that has it: the naive and top-k rule.

Unlike the rules that compare p with q it never looks at how children were drawn, so any tree is lossless; but the
chance to accept is the children's mass under p, less than what a coupling of p and q can reach.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..parameters import check, flag
from ..protocols import Verifier
from ..randomness import first_arrivals
from .bars import Bars
from .walk import Walk, explain_match


@dataclass(frozen=True)
class TargetMatch(Verifier):
    """One draw from p per accepted node, and one more."""

    name: ClassVar[str] = "target-match"
    title: ClassVar[str] = "Target match"
    laws: ClassVar[tuple[str, ...]] = ("top", "distinct", "iid", "race")
    reads_draft: ClassVar[bool] = False
    keyed: bool = flag(
        False,
        "Keyed noise",
        "Draw by a race keyed by position, so that the seed alone fixes the text, as plain decoding.",
    )

    def __post_init__(self) -> None:
        check(self)

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while True:
            row = p[node]
            if self.keyed:
                token = int(first_arrivals(row, rng.noise(tree.position(node), len(row)))[0])
            else:
                token = rng.draw(row)
            walk.show(node, match=Bars(row)(token))
            for child in tree.children[node]:
                walk.accept_prob[child] = float(row[tree.tokens[child]])
                walk.mark(child, tree.tokens[child] == token)
                if tree.tokens[child] == token:
                    break
            else:
                return walk.end(token)
            node = child

    def explain(self, step, node):
        return explain_match(step, node, "the target's own draw was this very token", "the target drew another token")
