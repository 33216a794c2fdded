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

    A token counts q up to rho = p / q and p / rho beyond: between two such turns beta = full + part / rho, and rho* is
    found by bisection. Of the last bracket it is the upper end, because every rho from rho* upwards is lossless.
    """
    always = p >= k * q
    turning = (p > q) & ~always
    full, part = float(q @ always), float(p @ (p <= q))
    p, q = p[turning], q[turning]
    order = np.argsort(p / q)
    turns = np.append((p / q)[order], k)
    fulls = full + np.append(np.cumsum(q[order][::-1])[::-1], 0.0)
    parts = part + np.append(0.0, np.cumsum(p[order]))
    beta = np.minimum(1.0, fulls + parts / turns)
    enough = 1 - (1 - beta) ** k <= turns * beta
    enough[-1] = True  # k always is, by Bernoulli's inequality, whatever rounding says
    place = int(np.argmax(enough))
    low, high = float(turns[place - 1]) if place else 1.0, float(turns[place])
    full, part = float(fulls[place]), float(parts[place])
    while low < (rho := (low + high) / 2) < high:
        beta = min(1.0, full + part / rho)
        if 1 - (1 - beta) ** k > rho * beta:
            low = rho
        else:
            high = rho
    return high


def leftover(p: np.ndarray, q: np.ndarray, k: int, rho: float) -> tuple[np.ndarray, float]:
    """What is drawn from once all k children were refused, up to a factor, float64 [V]; and beta."""
    taken = np.minimum(q, p / rho)
    beta = min(1.0, float(taken.sum()))
    if beta == 0:
        return p, beta
    left = np.maximum(p - taken * ((1 - (1 - beta) ** k) / beta), 0.0)
    return (left if left.any() else p), beta
