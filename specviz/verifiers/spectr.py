"""SpecTr's k-sequential selection for i.i.d. children (Sun et al. 2023, algorithm 3).

Each of the k children is accepted with min(1, p / (rho q)), without a residual between tries; rho
in [1, k] is chosen once a node so that the tokens it leaves out can be made up for at the end.
"""

from __future__ import annotations

import numpy as np

from ..record.step import Detail, Step
from ..sampling.children import SequentialProposal
from ..sampling.distributions import Distributions, excess
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Verdict, Verifier
from .walk import Bars, Walk, explain_coin, ratio

CLOSE = 1e-13  # how near to rho*, of rho: nearer costs time and accepts no more


class SpecTr(Verifier):
    """One draw per child, with p divided by rho; rho is computed at every node from its number of
    children."""

    name, title = "spectr", "SpecTr"
    schemes = ("iid",)
    depends_on_siblings = True
    one_row = True
    at_zero = (
        "At temperature 0 SpecTr writes exactly the target's most probable tokens, "
        "though it may reject the right child and then draw the same token itself."
    )

    def __call__(self, tree: TokenTree, p: Distributions, rng: Randomness) -> Verdict:
        walk = Walk(tree)
        node = 0  # the last accepted one
        while children := tree.children[node]:
            row = p[node]
            q = SequentialProposal(tree.draft_distributions[node], "iid").row
            chart = Bars(row)
            rho = division_factor(row, q, len(children))
            left, beta = leftover(row, q, len(children), rho)
            walk.note(node, facts={"rho": rho, "beta": beta})
            for child in children:
                token = tree.tokens[child]
                walk.note(child, tried=chart(token, draft=q))
                if walk.flip(child, ratio(row[token], rho * q[token]), rng):
                    break
            else:
                bonus = rng.draw(left)
                walk.note(node, after=chart(token, bonus, residual=left / left.sum()))
                return walk.end(bonus)
            node = child
        return walk.end(rng.draw(p[node]))

    def explain(self, step: Step, node: int) -> str:
        parent = step.detail.get(step.parents[node], Detail()).facts
        divisor = f"{parent['rho']:.3f} q" if "rho" in parent else "rho q"
        return explain_coin(step, node, f"min(1, p/({divisor}))")


def division_factor(p: np.ndarray, q: np.ndarray, k: int) -> float:
    """rho*: the smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, where beta = sum min(q, p
    / rho).

    By bisection; every rho from rho* upwards is lossless, so the upper end is returned. Near 1
    rounding would decide, so what both sides lack of 1 is compared: 1 - rho beta is sum [p - rho
    q]+. A token that lacks nothing at one rho lacks nothing at any larger one.
    """
    low, high = 1.0, float(k)
    while high - low > CLOSE * high:
        rho = (low + high) / 2
        left, lack = excess(p, rho * q)
        if ((rho - 1 + lack) / rho) >= lack ** (
            1 / k
        ):  # (1 - beta)^k >= 1 - rho beta, where no power underflows
            high = rho
        else:
            low = rho
            lacking = left > 0
            p, q = p[lacking], q[lacking]
    return high


def leftover(p: np.ndarray, q: np.ndarray, k: int, rho: float) -> tuple[np.ndarray, float]:
    """The distribution of the next token once all k children were rejected, up to a factor, float64
    [V]; and beta."""
    common = np.minimum(p / rho, q)
    beta = min(1.0, float(common.sum()))
    if beta == 0:
        return p, beta
    # All children together write a token with `common` times 1 + (1 - beta) + ..., k terms; the
    # rest of p is written here. With a rho below rho* some of it would be negative.
    left = np.maximum(p - common * ((1 - (1 - beta) ** k) / beta), 0.0)
    return (left if left.any() else p), beta
