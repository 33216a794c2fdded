"""Closed forms and bounds: what one draft, a chain and a tree are worth at best, without running
anything.

p = target and q = draft, distributions as float64 [V]; logarithms are natural. What happens at one
node with several children is in `node` and `rates`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..sampling.distributions import entropy

# One draft, one position.


def race_acceptance(p: np.ndarray, q: np.ndarray) -> float:
    """The chance that two races with shared noise have one winner: sum_x 1 / sum_y max(p_y / p_x,
    q_y / q_x).

    This is the exact acceptance of the first child of an exponential race (the Gumbel coupling).
    The larger of the two ratios is p's where p_y / q_y is at least p_x / q_x, so one sort replaces
    the double sum.
    """
    both = (p > 0) | (q > 0)
    p = p[both]
    q = q[both]
    with np.errstate(divide="ignore"):
        order = np.argsort(p / q, kind="stable")
    p = p[order]
    q = q[order]
    above = np.cumsum(p[::-1])[::-1]  # sum of p over this token and all of larger p / q
    below = np.cumsum(q) - q  # sum of q over all of smaller p / q
    shared = (p > 0) & (q > 0)
    return float((1.0 / (above[shared] / p[shared] + below[shared] / q[shared])).sum())


def harmonic_bound(p: np.ndarray, q: np.ndarray) -> float:
    """Lower bound of `race_acceptance`: sum p q / (p + q) (exponential-races paper, lemma 3.1); at
    most 1/2."""
    total = p + q
    return float(np.divide(p * q, total, out=np.zeros_like(total), where=total > 0).sum())


def kl_divergence(q: np.ndarray, p: np.ndarray) -> float:
    """KL(q || p) in nats; infinite where q has a token that p has not."""
    return max(0.0, cross_entropy(q, p) - entropy(q))


def cross_entropy(q: np.ndarray, p: np.ndarray) -> float:
    """H(q, p) = - sum q log p in nats; infinite where q has a token that p has not."""
    drawn = q > 0
    if (p[drawn] == 0).any():
        return math.inf
    return float(-(q[drawn] * np.log(p[drawn])).sum())


def pinsker_bound(kl: float) -> float:
    """Lower bound of 1 - TV: 1 - sqrt(KL / 2), below 0 where KL exceeds 2 (SVIP, equation 4)."""
    return 1 - math.sqrt(kl / 2)


def bretagnolle_huber_bound(kl: float) -> float:
    """Lower bound of 1 - TV: 1 - sqrt(1 - exp(-KL)), never below 0 (SVIP, equation 9)."""
    return 1 - math.sqrt(-math.expm1(-kl))


def entropy_estimate(draft_entropy: float, c: float) -> float:
    """What SVIP takes for a lower bound of 1 - TV while it drafts: 1 - sqrt(c H(q)) (equation 6), H
    in nats.

    It is Pinsker's bound with H(q, p) replaced by (1 + 2 c) H(q).
    """
    return 1 - math.sqrt(c * draft_entropy)


# Chains.


def chain_tokens(acceptance: float, length: int) -> float:
    """Tokens per pass of a chain, (1 - a^(n + 1)) / (1 - a) (Leviathan et al. 2023, equation 1).

    Args:
        acceptance: the chance a of each token, independent of the others.
        length: n, the number of drafted tokens.
    """
    if acceptance == 1:
        return float(length + 1)
    return (1 - acceptance ** (length + 1)) / (1 - acceptance)


def path_ceiling(p: np.ndarray, q: np.ndarray) -> float:
    """The most tokens of one drafted path that any lossless rule accepts on average.

    A rule that accepts a beginning of the path, adds a token and leaves the target alone accepts
    down to a text at most as often as it is drafted, and as often as the target goes on to its last
    token from where the text before it was accepted. Block verification does both as often as it
    may (Sun et al. 2024), whatever it knows of the target beside the path.

    Args:
        p, q: rows that depend on the depth alone, [levels, V].
    """
    drafted = np.ones(1)  # the chance of each text so far
    accepted = np.ones(1)  # the most that it can be accepted
    total = 0.0
    for above, below in zip(p, q, strict=True):
        # Every text of this level: each of the level above with every next token.
        drafted = np.outer(drafted, below).ravel()
        accepted = np.minimum(drafted, np.outer(accepted, above).ravel())
        total += float(accepted.sum())
    return total


# Trees.


def tunstall_bound(acceptance: Sequence[float], drafted: int) -> float:
    """Upper bound of the tokens per pass of any tree: (log |R| + log(k + 1)) / H[R] (theorem 4.1 of
    the races paper).

    Args:
        acceptance: R, for which child is accepted; it must sum to 1.
        drafted: k, the number of drafted tokens.
    """
    return _over_entropy(math.log(len(acceptance)) + math.log(drafted + 1), _entropy(acceptance))


def tail_bound(acceptance: Sequence[float], drafted: int, used: int) -> float:
    """The best bound that lemma 4.2 of the races paper gives, minimised over how the unused tail is
    spread.

    No tree that uses the first N ranks only can tell apart two vectors that agree on them. What R
    leaves beyond them, e, is put on m equal ranks; every m gives the bound (log(N + m) + log(k +
    1)) / H[R'].

    Args:
        acceptance: R; what it lacks to a sum of 1 belongs to the tail.
        drafted: k, the number of drafted tokens.
        used: N, the largest rank that the tree uses, from 1.
    """
    head = [prob for prob in acceptance[:used] if prob > 0]
    tail = 1 - sum(head)
    if tail <= 1e-12:
        return tunstall_bound(acceptance[:used], drafted)

    def bound(m: int) -> float:
        return _over_entropy(
            math.log(used + m) + math.log(drafted + 1),
            _entropy(head) - tail * math.log(tail) + tail * math.log(m),
        )

    # Convex over positive and linear in log m, so it falls to one minimum and rises after it.
    low = 1
    high = 2
    while bound(high) < bound(high // 2) and high < 2**200:
        high *= 2
    while low < high:
        middle = (low + high) // 2
        if bound(middle + 1) < bound(middle):  # still falling, so the minimum is further on
            low = middle + 1
        else:
            high = middle
    return bound(low)


def _entropy(probs: Sequence[float]) -> float:
    return entropy(np.asarray(probs, dtype=np.float64))


def _over_entropy(bits: float, entropy_nats: float) -> float:
    if entropy_nats <= 0:
        return math.inf
    return bits / entropy_nats
