"""SpecInfer's multi-round rule for i.i.d. children (Miao et al. 2023, algorithm 2).

Children are tried one after the other. Unlike speculative sampling a refusal does not end the step: the next child is
compared with the residual, norm([r - q]+), while q stays as it is because every child was drawn from all of q.
Duplicates are tried as often as they were drawn. Where several drafters fill the tree, q is the row of the drafter
that drew the child (section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..distributions import residual
from ..laws import Offers
from ..protocols import Verifier
from .bars import Bars
from .walk import Walk, explain_coin, ratio


@dataclass(frozen=True)
class SpecInfer(Verifier):
    """One coin per child, the residual after each refusal, q unchanged."""

    name: ClassVar[str] = "specinfer"
    title: ClassVar[str] = "SpecInfer"
    laws: ClassVar[tuple[str, ...]] = ("iid",)

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            r, offers, bars = p[node], Offers(tree.draft_rows[node], "iid"), Bars(p[node])
            for child in children:
                token, q = tree.tokens[child], offers.row
                walk.show(child, tried=bars(token, residual=r, draft=q))
                if walk.flip(child, ratio(r[token], q[token]), rng):
                    break
                r = residual(r, q)
                offers.took(token)
            else:
                walk.show(node, after=bars(token, residual=r))
                return walk.end(rng.draw(r))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/q)")
