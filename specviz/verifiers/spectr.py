"""SpecTr's k-sequential selection for i.i.d. children (Sun et al. 2023, algorithm 2).

Unlike SpecInfer's rule it needs no residual between two tries: every one of the k children is accepted with the same
min(1, p / (rho q)), and rho in [1, k] is chosen once a node so that the tokens it leaves out can be made up for at the
end. rho = 1 would accept most but make some tokens too frequent; k never does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..protocols import Verifier
from .bars import Bars
from .walk import Walk, explain_coin, ratio


@dataclass(frozen=True)
class SpecTr(Verifier):
    """One coin per child, p divided by rho throughout; rho is solved for at every node from its number of children."""

    name: ClassVar[str] = "spectr"
    title: ClassVar[str] = "SpecTr"
    laws: ClassVar[tuple[str, ...]] = ("iid",)
    shares: ClassVar[bool] = True
    at_zero: ClassVar[str] = (
        "At temperature 0 SpecTr writes exactly the target's most probable tokens, "
        "though it may refuse the right child and then draw the same token itself."
    )

    def __call__(self, tree, p, rng):
        walk, node = Walk(tree), 0
        while children := tree.children[node]:
            row, q, bars = p[node], tree.draft_rows[node], Bars(p[node])
            rho = division_factor(row, q, len(children))
            left, beta = leftover(row, q, len(children), rho)
            walk.show(node, rho=rho, beta=beta)
            for child in children:
                token = tree.tokens[child]
                walk.show(child, **bars(token, draft=q))
                if walk.flip(child, ratio(row[token], rho * q[token]), rng):
                    break
            else:
                walk.show(node, bonus=bars(residual=left / left.sum()))
                return walk.end(rng.draw(left))
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step, node):
        parent = step.detail.get(str(step.parents[node]), {})
        divisor = f"{parent['rho']:.3f} q" if "rho" in parent else "rho q"
        return explain_coin(step, node, f"min(1, p/({divisor}))")


def division_factor(p: np.ndarray, q: np.ndarray, k: int) -> float:
    """rho* by bisection: the smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, beta = sum min(q, p / rho).

    A token counts q up to rho = p / q and p / rho beyond, so with every halving fewer tokens are left to look at: beta
    is full + part / rho, and what p and q still hold. Of the last bracket it is the upper end, because every rho from
    rho* upwards is lossless.
    """
    low, high = 1.0, float(k)
    always, never = p >= high * q, p <= low * q
    full, part = float(q[always].sum()), float(p[never & ~always].sum())
    open_ = ~(always | never)
    p, q = p[open_], q[open_]
    while low < (rho := (low + high) / 2) < high:
        counts_q = p >= rho * q
        more_full, more_part = (float(q @ counts_q), float(p @ ~counts_q)) if len(p) else (0.0, 0.0)
        beta = min(1.0, full + more_full + (part + more_part) / rho)
        if 1 - (1 - beta) ** k > rho * beta:
            low, part, p, q = rho, part + more_part, p[counts_q], q[counts_q]
        else:
            high, full, p, q = rho, full + more_full, p[~counts_q], q[~counts_q]
    return high


def leftover(p: np.ndarray, q: np.ndarray, k: int, rho: float) -> tuple[np.ndarray, float]:
    """What is drawn from once all k children were refused, up to a factor, float64 [V]; and beta."""
    taken = np.minimum(q, p / rho)
    beta = min(1.0, float(taken.sum()))
    if beta == 0:
        return p, beta
    left = np.maximum(p - taken * ((1 - (1 - beta) ** k) / beta), 0.0)
    return (left if left.any() else p), beta
