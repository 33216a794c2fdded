"""The most that any lossless rule can accept of the children of one node.

p = target and q = draft, distributions as float64 [V].
"""

from __future__ import annotations

import numpy as np

from .children import most_probable, without


def ceiling(p: np.ndarray, q: np.ndarray, k: int, scheme: str) -> float:
    """The largest chance of any lossless rule to accept one of k children of a node.

    It is 1 + min over token sets H of p(H) - Pr(all children in H); the best H holds the tokens of
    smallest p / q (Hu et al. 2025; Thomas and Pal 2026).

    Args:
        p, q: the target's and the draft's row after the node, float64 [V].
        k: how many children are drawn.
        scheme: how: "iid", "distinct", "top-draw" or "top".
    """
    if scheme == "top":  # the children are given: at best the target's own draw is one of them
        return float(p[most_probable(q, k)].sum())
    if scheme == "top-draw":
        # The given tokens at best all count; of the draw what p and its own chance have in common.
        top = most_probable(q, min(k, len(q)) - 1)
        drawn = np.minimum(without(q, top), p)
        drawn[top] = 0.0
        return float(p[top].sum() + drawn.sum())
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(np.where(q > 0, p / q, np.inf), kind="stable")
    p = p[order]
    q = q[order]
    # The chance that all children lie among the first tokens, for 1 to V of them.
    is_power = scheme == "iid" or k == 1
    inside = np.minimum(np.cumsum(q), 1.0) ** k if is_power else _distinct_inside(q, k)
    return float(1 + min(0.0, (np.cumsum(p) - inside).min()))


def _distinct_inside(q: np.ndarray, k: int) -> np.ndarray:
    """The chance that k draws without replacement, or as many as q has tokens, all lie among the
    first tokens, for 1 to V of them.

    Token x arrives at rate q(x); the draws are the first k arrivals. All lie among the first tokens
    unless one of the others, which arrive at rate Q together, comes while fewer than k of them are
    there: 1 - integral of Q exp(-Q t) Pr(fewer than k by t) dt, by the trapezoid rule in log t.
    """
    k = min(k, int(np.count_nonzero(q)))
    # From a time before which nothing arrives to one by which the rarest token surely has.
    log_t = np.arange(-45.0, np.log(45.0 / q[q > 0].min()), 0.05)
    t = np.exp(log_t)
    arrived = np.zeros((k, len(t)))  # the chance that so many of the first tokens came by t
    arrived[0] = 1.0
    inside = np.ones(len(q))
    for place, rate in enumerate(q):
        not_yet = np.exp(-rate * t)
        # One token more may arrive: as many as before came without it, or one fewer and then it.
        arrived[1:] = arrived[1:] * not_yet + arrived[:-1] * (1 - not_yet)
        arrived[0] *= not_yet
        others = float(q[place + 1 :].sum())
        density = others * np.exp(-others * t) * arrived.sum(axis=0)
        inside[place] = 1 - np.trapezoid(density * t, log_t)
    return inside
