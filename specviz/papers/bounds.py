"""Bounds at single nodes and for whole trees: by how much they fail at most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from ..builders.plans import isotonic, priority_queue_tree
from ..proof.bounds import (
    bretagnolle_huber_bound,
    harmonic_bound,
    kl_divergence,
    pinsker_bound,
    race_acceptance,
    tail_bound,
    tunstall_bound,
)
from ..proof.node import sequoia_acceptance
from ..record.vectors import expected_tokens
from ..sampling.distributions import entropy, total_variation
from ..sampling.randomness import Seeded
from .along import planned
from .number import proof
from .workbench import Workbench

PAIRS = 120
# By how much each bound of 1 - TV, or of the acceptance of races, exceeds what it bounds; of an
# identity, how far its sides are apart.
EXCESS: dict[str, Callable[[np.ndarray, np.ndarray], float]] = {
    "pinsker": lambda p, q: pinsker_bound(kl_divergence(q, p)) - 1 + total_variation(p, q),
    "huber": lambda p, q: bretagnolle_huber_bound(kl_divergence(q, p)) - 1 + total_variation(p, q),
    "lemma 3.1": lambda p, q: harmonic_bound(p, q) - race_acceptance(p, q),
    "acceptance": lambda p, q: abs(
        1 - total_variation(p, q) - (q * np.minimum(1, p / np.maximum(q, 1e-300))).sum()
    ),
}


def rows() -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs (p, q) of five tokens, from nearly equal to far apart."""
    rng = Seeded(5)
    pairs = []
    for number in range(PAIRS):
        p, other = (rng.noise(2 * number + i, 5) ** (0.3 + number % 4) for i in (0, 1))
        mix = number / (PAIRS - 1)
        p /= p.sum()
        pairs.append((p, (1 - mix) * p + mix * other / other.sum()))
    return pairs


@proof
def bound_holds(name: str, workbench: Workbench) -> Iterator[float]:
    """By how much a bound, or an identity, fails on 120 pairs of distributions and on the rows of
    two texts."""
    pairs = rows()
    for text in list(workbench.texts())[:2]:
        for row in workbench.rows(text, temperature=1.0):
            pairs.append((row.p, row.q))
    for p, q in pairs:
        yield EXCESS[name](p, q)


def rejection_index_entropy(p: np.ndarray, q: np.ndarray) -> float:
    """The entropy of which draft is accepted, H[R], of greedy rejection (Harsha et al. 2010), in
    nats: what bounds any tree (equation 6).

    Drafts are independent and without end, as in channel simulation (Kobus and Gündüz 2025, section
    4; Li 2024). It is infinite where p has a token that q has not.

    After k rejections, mass min(p, level * q) has been given out; the level rises by the chance to
    get there.
    """
    if (q[p > 0] <= 0).any():
        return math.inf
    total = 0.0
    level = 0.0
    reached = 1.0
    while True:
        level += reached
        left = float(np.maximum(p - level * q, 0).sum())
        accepted = reached - left
        if accepted <= 0:  # nothing but rounding is left
            return total
        total -= accepted * math.log(accepted)
        reached = left


@proof
def index_bound(method: str) -> Iterator[float]:
    """By how many bits the entropy of the accepted index falls below KL.

    Args:
        method: "rejection" of independent drafts, or "distinct", drawn without replacement.
    """
    entropy_of = {
        "rejection": rejection_index_entropy,
        "distinct": lambda p, q: entropy(sequoia_acceptance(p, q, len(p))),
    }[method]
    for p, q in rows():
        yield (kl_divergence(p, q) - entropy_of(p, q)) / math.log(2)


@proof
def tree_bound(name: str, workbench: Workbench) -> Iterator[float]:
    """By how much the tokens of the optimal tree exceed a bound, at any number of drafts."""
    vector = isotonic(planned(1.0))
    tail_size = max(1, workbench.pair.vocab_size - len(vector))
    tail = max(0.0, 1 - sum(vector)) / tail_size
    for k in (1, 2, 4, 8, 16, 32, 64, 128):
        tree = priority_queue_tree(vector, k + 1, 64, 32)
        if name == "theorem 4.1":
            bound = tunstall_bound((*vector, *([tail] * tail_size)), k)
        else:
            bound = tail_bound(vector, k, int(tree.rank.max()) + 1)
        yield expected_tokens(tree, vector) - bound
