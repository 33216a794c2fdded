"""One node with several children: what each rule accepts exactly; the most that any can is
`sampling.ceiling`.

p = target and q = draft, distributions as float64 [V]. A vector holds for each child the chance
that it is the one accepted; it is written here a second time, apart from the rules themselves, so
that each can check the other.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..sampling.children import most_probable, without
from ..sampling.distributions import residual


def specinfer_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """SpecInfer with k i.i.d. children, float64 [k].

    A rejection leaves norm([r - q]+) whichever token it was, so there is nothing to enumerate.
    """
    accepted = np.zeros(k)
    reached = 1.0  # the chance that all children before this one are rejected
    r = p
    for child in range(k):
        accepted_prob = min(1.0, float(np.minimum(r, q).sum()))
        accepted[child] = reached * accepted_prob
        reached *= 1 - accepted_prob
        r = residual(r, q)
    return accepted


def spectr_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """SpecTr's k-sequential selection with k i.i.d. children, float64 [k]: beta (1 - beta)^j at the
    best rho.

    beta(rho) = sum min(q, p / rho); rho is the smallest in [1, k] with 1 - (1 - beta)^k <= rho
    beta, by bisection over what both sides lack of 1.
    """

    def beta(rho: float) -> float:
        return min(1.0, float(np.minimum(q, p / rho).sum()))

    def is_lossless(rho: float) -> bool:
        return (1 - beta(rho)) ** k >= float(np.maximum(p - rho * q, 0.0).sum())

    low = 1.0
    high = 1.0
    if not is_lossless(1.0):
        high = float(k)
    rho = (low + high) / 2
    while low < rho < high:  # until no number is left between the two
        if is_lossless(rho):
            high = rho
        else:
            low = rho
        rho = (low + high) / 2
    return beta(high) * (1 - beta(high)) ** np.arange(k)


def sequoia_acceptance(p: np.ndarray, q: np.ndarray, k: int, fallback: bool = True) -> np.ndarray:
    """Sequoia with k children drawn without replacement, float64 [k], over every order of tokens:
    small V only.

    Args:
        fallback: whether children are drawn uniformly once q is used up; without it this is
            DySpec's rule.
    """
    accepted = np.zeros(k)

    def visit(child: int, reached: float, r: np.ndarray, d: np.ndarray, drawn: list[int]) -> None:
        accepted[child] += reached * np.minimum(r, d).sum()
        if child + 1 == k:
            return
        # Only a token that the draft favours can be rejected; each leaves another draft behind.
        for token in np.flatnonzero(d > r):
            gone = [*drawn, int(token)]
            if fallback or np.delete(q, gone).any():
                rejected = reached * (d[token] - r[token])
                visit(child + 1, rejected, residual(r, d), without(d, gone), gone)

    visit(0, 1.0, p, q, [])
    return accepted


def target_match_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """The target's own draw looked up among the draft's k most probable tokens, float64 [min(k,
    V)].

    For a fixed set of children this is the ceiling as well: no rule accepts more than their mass
    under p.
    """
    return p[most_probable(q, k)]


def naive_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """The target's own draw looked up among k i.i.d. children, float64 [k]: the first of them that
    has it."""
    return np.array([float((p * q * (1 - q) ** child).sum()) for child in range(k)])


def top_draw_acceptance(p: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """The k - 1 most probable tokens and one draw y from q' = norm(q without them), float64 [k].

    y is accepted with min(q', p), the others with all of their p (Hu et al. 2025): the ceiling.
    """
    top = most_probable(q, min(k, len(q)) - 1)
    drawn = np.minimum(without(q, top), p)
    drawn[top] = 0.0
    return np.append(p[top], drawn.sum())


# By menu name, with children as the rule asks for them first. On one node traversal is Sequoia's
# rule.
ACCEPTANCE: dict[str, Callable[[np.ndarray, np.ndarray, int], np.ndarray]] = {
    "sequoia": sequoia_acceptance,
    "dyspec": partial(sequoia_acceptance, fallback=False),
    "traversal": sequoia_acceptance,
    "transport": top_draw_acceptance,
    "greedy-draft": top_draw_acceptance,
    "specinfer": specinfer_acceptance,
    "spectr": spectr_acceptance,
    "naive": naive_acceptance,
    "target-match": target_match_acceptance,
    "exact-match": target_match_acceptance,
}
