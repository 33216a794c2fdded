"""Shares along a text: for each of k children the chance that it was the one which brought the text's next token x,
P(it is accepted and is x) / p(x). p = target, q = draft, float64 [V]; p(x) > 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..distributions import residual
from ..randomness import Randomness
from ..sampling import draw_children, most_probable, without

Shares = Callable[[np.ndarray, np.ndarray, int, int, Randomness], np.ndarray]


def match_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """Rules that keep the target's own token, and every rule at temperature 0: which of the draft's best it is."""
    best = most_probable(q, k)
    return (np.array([*best, *[-1] * (k - len(best))]) == token).astype(float)


def iid_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """SpecInfer, and with one child speculative sampling; exact."""
    shares, reached, r = np.zeros(k), 1.0, p
    for child in range(k):
        shares[child] = reached * min(r[token], q[token]) / p[token]
        reached *= max(0.0, 1 - float(np.minimum(r, q).sum()))
        r = residual(r, q)
    return shares


def distinct_shares(
    p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness, fallback: bool = True
) -> np.ndarray:
    """Sequoia, and without the fallback DySpec: exact for each child given the ones before it, which are drawn."""
    shares, reached, r, d, drawn = np.zeros(k), 1.0, p, q, []
    for child, other in enumerate(draw_children(q, k, "distinct", rng, 0)):
        if not fallback and q[other] == 0:
            break
        shares[child] = reached * min(r[token], d[token]) / p[token]
        reached *= max(0.0, 1 - float(r[other] / d[other]))
        if reached == 0:
            break
        drawn.append(other)
        r, d = residual(r, d), without(d, drawn)
    return shares


def _dyspec_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    return distinct_shares(p, q, token, k, rng, fallback=False)


def naive_shares(p: np.ndarray, q: np.ndarray, token: int, k: int, rng: Randomness) -> np.ndarray:
    """Naive sampling: the first of k independent draws that is the target's own token; exact."""
    return float(q[token]) * (1 - float(q[token])) ** np.arange(k)


# By menu name; rules that are missing decide by whole paths.
SHARES: dict[str, Shares] = {
    "sequoia": distinct_shares, "dyspec": _dyspec_shares, "specinfer": iid_shares, "speculative-sampling": iid_shares,
    "target-match": match_shares, "naive": naive_shares, "exact-match": match_shares,
}  # fmt: skip
