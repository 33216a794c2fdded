"""The entropy of which draft is accepted, at a vocabulary of any size: what bounds any tree (equations 6 to 8).

Drafts are independent and without end, as in channel simulation (Kobus and Gündüz 2025, section 4; Li 2024); `node` has
the distributions of k children. p = target and q = draft, float64 [V]; logarithms are natural. Both depend on p and q
only through the mass that lies below each value of p / q, so sorting is all the work.
"""

from __future__ import annotations

import math

import numpy as np

from ..errors import ParameterError

NOTHING = 1e-15  # mass that has no part in an entropy
STEP = 1.03  # from one block of indices to the next, where many are summed at once


def rejection_index_entropy(p: np.ndarray, q: np.ndarray) -> float:
    """H[R] of greedy rejection (Harsha et al. 2010), in nats; infinite where p has a token that q has not.

    After k rejections, mass min(p, c_k q) has been given out, with c_k+1 = c_k + (chance to get there). While no token
    is used up the chance of acceptance stays, so such a run is a piece of a geometric distribution, summed at once.
    """
    found = _sorted(p, q)
    if found is None:
        return math.inf
    ratio, p, q = found
    given = np.append(0.0, np.cumsum(p))
    open_q = np.append(np.cumsum(q[::-1])[::-1], 0.0)  # from each token on, those with a larger p / q
    entropy, level, reached = 0.0, 0.0, 1.0
    while reached > NOTHING:
        used = int(np.searchsorted(ratio, level, "right"))
        share = min(1.0, open_q[used])
        if share <= 0:
            break
        upper = level + reached
        if upper <= ratio[used]:
            left = 1 - share * (ratio[used] - level) / reached  # rejected until the next token is used up
            steps = math.inf if share == 1 or left <= 0 else max(1, math.floor(math.log(left) / math.log1p(-share)))
            rejected = 0.0 if steps == math.inf else (1 - share) ** steps
            entropy += _geometric_part(reached, share, steps)
            level, reached = level + reached * (1 - rejected) / share, reached * rejected
        else:
            then = int(np.searchsorted(ratio, upper, "right"))
            mass = given[then] - given[used] + upper * open_q[then] - level * open_q[used]
            entropy += _surprise(mass)
            level, reached = upper, reached - mass
    return entropy


def race_index_entropy(p: np.ndarray, q: np.ndarray) -> float:
    """H[R] of the Poisson functional representation (Li and El Gamal 2018), in nats; infinite as above.

    Where x is the target's winner, at a time t that is exponential, the arrivals before it under q are Poisson with
    mean t w_x, w_x = sum_y max(0, q_y p_x / q_x - p_y): R is geometric with chance 1 / (1 + w_x). Of many indices a
    block is taken for level, which exceeds the entropy by less than rounding to four digits.
    """
    found = _sorted(p, q)
    if found is None:
        return math.inf
    w, p = _earlier(*found)
    w, p = w[p > NOTHING], p[p > NOTHING]
    last = 40 * (1 + w.max())  # e^-40 of the likeliest to come so late
    edges = np.unique(np.floor(STEP ** np.arange(math.log(last) / math.log(STEP) + 2)))
    edges = np.append(0.0, edges)
    with np.errstate(divide="ignore"):
        log_rejected = -np.log1p(1 / w)  # of each winner, -inf where nothing comes before it
    beyond = np.exp(np.multiply.outer(edges[1:], log_rejected)) @ p
    mass = -np.diff(np.append(p.sum(), beyond))
    return float(sum(_surprise(m, n) for m, n in zip(mass, np.diff(edges), strict=True)))


def race_index_chances(p: np.ndarray, q: np.ndarray, count: int) -> np.ndarray:
    """The chances of the first `count` indices under the Poisson functional representation, float64 [count].

    Raises:
        ParameterError: if p has a token that q has not, so that no index has a chance of its own.
    """
    found = _sorted(p, q)
    if found is None:
        raise ParameterError("q", "be above 0 wherever p is", "0 for some token")
    w, p = _earlier(*found)
    return (p / (1 + w)) @ np.power.outer(w / (1 + w), np.arange(count))


def _earlier(ratio: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """w, the mean number of arrivals before each winner in units of its time, and the chance of that winner."""
    before = np.append(0.0, q.cumsum())[:-1], np.append(0.0, p.cumsum())[:-1]
    return np.maximum(0.0, ratio * before[0] - before[1]), p


def _sorted(p: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """p / q rising, with p and q in that order; None where p has a token that q has not."""
    if (q[p > 0] <= 0).any():
        return None
    p, q = p[q > 0], q[q > 0]
    order = np.argsort(p / q, kind="stable")
    return (p / q)[order], p[order], q[order]


def _surprise(mass: float, count: float = 1) -> float:
    """What `count` equal chances of together `mass` bring to an entropy."""
    return float(-mass * math.log(mass / count)) if mass > 0 else 0.0


def _geometric_part(reached: float, share: float, steps: float) -> float:
    """What the first `steps` of the chances reached * share * (1 - share)^j bring to an entropy."""
    if share == 1:
        return _surprise(reached)
    rejected = 1 - share
    end = 0.0 if steps == math.inf else rejected**steps
    index = rejected / share * (1 - end) - (0.0 if end == 0 else steps * end)  # share * sum of j (1 - share)^j
    return -reached * ((1 - end) * math.log(reached * share) + index * math.log1p(-share))


__all__ = ["race_index_chances", "race_index_entropy", "rejection_index_entropy"]
