"""SpecTr's k-sequential selection for i.i.d. children (Sun et al. 2023, algorithm 3).

Each of the k children is accepted with min(1, p / (rho q)), without a residual between tries; rho
in [1, k] is chosen once a node so that the tokens it leaves out can be made up for at the end.
"""

from __future__ import annotations

import numpy as np

from ..record.step import Detail, Step
from ..sampling.children import SequentialProposal
from ..sampling.distributions import excess
from .decisions import ratio
from .explanations import explain_coin
from .frames import Selection, TopDown

CLOSE = 1e-13  # how near to rho*, of rho: nearer costs time and accepts no more


class KSequentialSelection(Selection):
    """Every child is compared with p / rho; nothing changes from child to child."""

    def __post_init__(self) -> None:
        count = len(self.tokens)
        self.q = SequentialProposal(self.q, self.scheme).row
        self.rho = division_factor(self.p, self.q, count)
        left, beta = leftover(self.p, self.q, count, self.rho)
        self.residual = left / left.sum()
        self.rows = {"draft": self.q}
        self.facts = {"rho": self.rho, "beta": beta}

    def chance(self, token: int) -> float:
        return ratio(self.p[token], self.rho * self.q[token])


class SpecTr(TopDown):
    """One draw per child, with p divided by rho; rho is computed at every node from its number of
    children."""

    name = "spectr"
    title = "SpecTr"
    schemes = ("iid",)
    selection = KSequentialSelection
    depends_on_siblings = True
    one_row = True
    at_zero = (
        "At temperature 0 SpecTr writes exactly the target's most probable tokens, "
        "though it may reject the right child and then draw the same token itself."
    )

    def explain(self, step: Step, node: int) -> str:
        facts = step.detail.get(node, Detail()).facts
        divisor = f"{facts['rho']:.3f} q" if "rho" in facts else "rho q"
        formula = f"min(1, p/({divisor}))"
        return explain_coin(step, node, formula, formula)


def division_factor(p: np.ndarray, q: np.ndarray, k: int) -> float:
    """rho*: the smallest rho in [1, k] with 1 - (1 - beta)^k <= rho beta, where beta = sum min(q, p
    / rho).

    By bisection; every rho from rho* upwards is lossless, so the upper end is returned. Near 1
    rounding would decide, so what both sides lack of 1 is compared: 1 - rho beta is sum [p - rho
    q]+. A token that lacks nothing at one rho lacks nothing at any larger one.
    """
    low = 1.0
    high = float(k)
    while high - low > CLOSE * high:
        rho = (low + high) / 2
        left, lack = excess(p, rho * q)
        # (1 - beta)^k >= 1 - rho beta, with the root taken so that no power underflows.
        if (rho - 1 + lack) / rho >= lack ** (1 / k):
            high = rho
        else:
            low = rho
            # The others lack nothing at any larger rho, so a large vocabulary soon shrinks.
            lacking = left > 0
            p = p[lacking]
            q = q[lacking]
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
