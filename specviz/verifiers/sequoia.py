"""Sequoia's rule for children drawn without replacement (Chen et al. 2024, algorithm 2).

Unlike SpecInfer's, a refused token also leaves the draft: d loses it and is renormalised, exactly as the next child
was drawn. Once d is used up the remaining children were drawn uniformly, and are compared with that.
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
class SequoiaRule(Verifier):
    """One coin per child, the residual and a smaller draft after each refusal."""

    name: ClassVar[str] = "sequoia"
    title: ClassVar[str] = "Sequoia"
    laws: ClassVar[tuple[str, ...]] = ("distinct",)

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            r, offers, bars = p[node], Offers(tree.draft_rows[node], "distinct"), Bars(p[node])
            for child in children:
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
