"""DySpec's rule for children drawn without replacement (Xiong et al. 2024, algorithm 3).

Unlike Sequoia's rule it knows no uniform fallback: once every token the draft could offer was refused, it stops and
draws from the residual. Children drawn by the fallback are left alone, which costs acceptance and no exactness: that
they are not tried was settled before they were drawn.
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
class DySpecRule(Verifier):
    """Sequoia's coins and residuals, as long as the draft has mass left."""

    name: ClassVar[str] = "dyspec"
    title: ClassVar[str] = "DySpec"
    laws: ClassVar[tuple[str, ...]] = ("distinct",)
    in_support: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            q, r, bars = tree.draft_rows[node], p[node], Bars(p[node])
            offers, offered = Offers(q, "distinct"), int((q > 0).sum())
            for child in children[:offered]:
                token, d = tree.tokens[child], offers.row
                walk.show(child, tried=bars(token, residual=r, draft=d))
                if walk.flip(child, ratio(r[token], d[token]), rng):
                    break
                r = residual(r, d)
                offers.took(token)
            else:
                walk.show(node, after=bars(token, residual=r))
                return walk.end(rng.draw(r))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, residual/remaining draft)")
