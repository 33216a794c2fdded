"""The entropy of which draft is accepted, at a vocabulary of any size: what bounds any tree
(equation 6).

Drafts are independent and without end, as in channel simulation (Kobus and Gündüz 2025, section 4;
Li 2024). p = target and q = draft, float64 [V]; logarithms are natural. The entropy depends on p
and q only through the mass below each value of p / q, so sorting is all the work.
"""

from __future__ import annotations

import math

import numpy as np

NOTHING = 1e-15  # mass that has no part in an entropy


def rejection_index_entropy(p: np.ndarray, q: np.ndarray) -> float:
    """H[R] of greedy rejection (Harsha et al. 2010), in nats; infinite where p has a token that q
    has not.

    After k rejections, mass min(p, c_k q) has been given out, with c_k+1 = c_k + (chance to get
    there). While no token is used up the chance of acceptance stays, so such a run is a part of a
    geometric distribution, summed at once.
    """
    if (q[p > 0] <= 0).any():
        return math.inf
    p, q = p[q > 0], q[q > 0]
    order = np.argsort(p / q, kind="stable")
    ratio, p, q = (p / q)[order], p[order], q[order]
    mass_below = np.append(0.0, np.cumsum(p))
    open_q = np.append(
        np.cumsum(q[::-1])[::-1], 0.0
    )  # from each token on, those with a larger p / q
    entropy, level, reached = 0.0, 0.0, 1.0
    while reached > NOTHING:
        used = int(np.searchsorted(ratio, level, "right"))
        accepted = min(1.0, open_q[used])
        if accepted <= 0:
            break
        upper = level + reached
        if upper <= ratio[used]:
            remainder = (
                1 - accepted * (ratio[used] - level) / reached
            )  # rejected until the next token is used up
            endless = accepted == 1 or remainder <= 0
            steps = (
                math.inf
                if endless
                else max(1, math.floor(math.log(remainder) / math.log1p(-accepted)))
            )
            rejected = 0.0 if endless else (1 - accepted) ** steps
            entropy += _geometric_part(reached, accepted, steps)
            level, reached = level + reached * (1 - rejected) / accepted, reached * rejected
        else:
            next_used = int(np.searchsorted(ratio, upper, "right"))
            mass = (
                mass_below[next_used]
                - mass_below[used]
                + upper * open_q[next_used]
                - level * open_q[used]
            )
            entropy += _surprise(mass)
            level, reached = upper, reached - mass
    return entropy


def _surprise(mass: float) -> float:
    """What a chance brings to an entropy."""
    return float(-mass * math.log(mass)) if mass > 0 else 0.0


def _geometric_part(reached: float, accepted: float, steps: float) -> float:
    """What the first `steps` of the chances reached * accepted * (1 - accepted)^j bring to an
    entropy."""
    if accepted == 1:
        return _surprise(reached)
    rejected = 1 - accepted
    end = 0.0 if steps == math.inf else rejected**steps
    index = rejected / accepted * (1 - end) - (
        0.0 if end == 0 else steps * end
    )  # accepted * sum of j rejected^j
    return -reached * ((1 - end) * math.log(reached * accepted) + index * math.log1p(-accepted))
