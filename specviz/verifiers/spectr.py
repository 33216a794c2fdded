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

SHARES = 64  # into which a bracket of rho is divided while many tokens are left in it
FEW = 8


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
    """rho*: the smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, where beta = sum min(q, p / rho).

    A token counts q up to rho = p / q and p / rho beyond, so as the bracket of rho narrows fewer tokens are left to
    look at: beta is full + part / rho, and what p and q still hold. Of the last bracket it is the upper end, because
    every rho from rho* upwards is lossless.
    """
    low, high = 1.0, float(k)
    always, never = p >= high * q, p <= low * q
    full, part = float((q * always).sum()), float((p * (never & ~always)).sum())
    left = np.flatnonzero(~(always | never))
    p, q = p[left], q[left]
    while len(p) > FEW and high - low > 1e-9 * high:  # a bracket of SHARES at a time
        share = ((p / q - low) * (SHARES / (high - low))).astype(int).clip(0, SHARES - 1)
        edges = np.linspace(low, high, SHARES + 1)
        below, above = _sums(share, p), _sums(share, q)
        fulls, parts = full + above[-1] - above, part + below
        first = int((~_wants_more(np.minimum(1.0, fulls + parts / edges), edges, k)).argmax())
        first = min(max(first, 1), SHARES)
        low, high = float(edges[first - 1]), float(edges[first])
        full, part = float(fulls[first]), float(parts[first - 1])
        p, q = p[share == first - 1], q[share == first - 1]
    while low < (rho := (low + high) / 2) < high:
        beta = min(1.0, full + part / rho + (float(np.minimum(q, p / rho).sum()) if len(p) else 0.0))
        low, high = (rho, high) if _wants_more(beta, rho, k) else (low, rho)
    return high


def _wants_more(beta, rho, k: int):
    return 1 - (1 - beta) ** k > rho * beta


def _sums(share: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """How much weight lies in the shares before each edge, [SHARES + 1]."""
    return np.concatenate([[0.0], np.bincount(share, weights, SHARES).cumsum()])


def leftover(p: np.ndarray, q: np.ndarray, k: int, rho: float) -> tuple[np.ndarray, float]:
    """What is drawn from once all k children were refused, up to a factor, float64 [V]; and beta."""
    left = p / rho
    np.minimum(left, q, out=left)
    beta = min(1.0, float(left.sum()))
    if beta == 0:
        return p, beta
    left *= -((1 - (1 - beta) ** k) / beta)
    left += p
    np.maximum(left, 0.0, out=left)
    return (left if left.any() else p), beta
