"""Speculative sampling on a chain (Leviathan et al. 2023, algorithm 1; Chen et al. 2023, algorithm 2).

Accept a token with probability min(1, p/q); at the first refusal draw from the residual norm([p - q]+).
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
class SpeculativeSampling(Verifier):
    """One coin per token of a chain."""

    name: ClassVar[str] = "speculative-sampling"
    title: ClassVar[str] = "Speculative sampling"
    laws: ClassVar[tuple[str, ...]] = ("iid", "distinct")
    chain_only: ClassVar[bool] = True

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            child = children[0]
            token, bars = tree.tokens[child], Bars(p[node])
            q = Offers(tree.draft_rows[node], "iid").row
            walk.show(child, tried=bars(token, residual=p[node], draft=q))
            if not walk.flip(child, ratio(p[node][token], q[token]), rng):
                r = residual(p[node], q)
                walk.show(node, after=bars(token, residual=r))
                return walk.end(rng.draw(r))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        return explain_coin(step, node, "min(1, p/q)")
