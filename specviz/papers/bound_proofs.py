"""Bounds at single nodes and for whole trees: by how much they fail at most; the last argument
breaks each."""

from __future__ import annotations

import math

import numpy as np

from ..builders.sequoia import best_tree, falling, likeliest_tree
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
from ..record.vector_files import published
from ..record.vectors import expected_tokens, reach
from ..sampling.distributions import entropy, total_variation
from ..sampling.randomness import Seeded
from .index_entropy import rejection_index_entropy
from .shapes import planned
from .workbench import Workbench, measurement

PAIRS = 120


def _rows() -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs (p, q) of five tokens, from nearly equal to far apart."""
    rng, pairs = Seeded(5), []
    for number in range(PAIRS):
        p, other = (rng.noise(2 * number + i, 5) ** (0.3 + number % 4) for i in (0, 1))
        p, other, mix = p / p.sum(), other / other.sum(), number / (PAIRS - 1)
        pairs.append((p, (1 - mix) * p + mix * other))
    return pairs


KINDS = {
    # bound, what it bounds, and the sign: 1 for a lower bound, -1 for an upper one, 0 for an
    # identity
    "pinsker": (
        lambda p, q: pinsker_bound(kl_divergence(q, p)) - 1,
        lambda p, q: -total_variation(p, q),
        1,
    ),
    "huber": (
        lambda p, q: bretagnolle_huber_bound(kl_divergence(q, p)) - 1,
        lambda p, q: -total_variation(p, q),
        1,
    ),
    "lemma 3.1": (harmonic_bound, race_acceptance, 1),
    "acceptance": (
        lambda p, q: 1 - total_variation(p, q),
        lambda p, q: (q * np.minimum(1, p / q)).sum(),
        0,
    ),
}


@measurement("proof")
def bound_holds(bench: Workbench, kind: str, factor: float = 1.0) -> dict[str, float]:
    """By how much a bound, or an identity, fails on 120 pairs of distributions and on the rows of
    two texts."""
    bound, value, sign = KINDS[kind]
    pairs = _rows() + [
        (row.p, row.q) for text in list(bench.texts())[:2] for row in bench.rows(text, 1.0)
    ]
    gaps = [
        factor * float(bound(p, q)) - float(value(p, np.maximum(q, 1e-300)))
        for p, q in pairs
        if np.isfinite(bound(p, q))
    ]
    return {"error": max(abs(gap) if sign == 0 else sign * gap for gap in gaps)}


@measurement("proof")
def index_bound(bench: Workbench, method: str) -> dict[str, float]:
    """By how much the entropy of the accepted index falls below KL.

    Args:
        bench: not used.
        method: "rejection" of independent drafts, or "distinct", drawn without replacement.
    """
    error = -math.inf
    for p, q in _rows():
        distinct = method == "distinct"
        bits = (
            entropy(sequoia_acceptance(p, q, len(p))) if distinct else rejection_index_entropy(p, q)
        )
        error = max(error, (kl_divergence(p, q) - bits) / math.log(2))
    return {"error": error}


@measurement("proof")
def tree_bound(bench: Workbench, kind: str, alphabet: bool = True) -> dict[str, float]:
    """By how much the tokens of the optimal tree exceed a bound, at any number of drafts;
    `alphabet` counts log |R|."""
    vector = falling(planned(1.0))
    tail_size = max(1, bench.pair.vocab_size - len(vector))
    whole, error = (*vector, *([max(0.0, 1 - sum(vector)) / tail_size] * tail_size)), -math.inf
    for k in (1, 2, 4, 8, 16, 32, 64, 128):
        tree = likeliest_tree(vector, k + 1, 64, 32)
        bound = (
            tunstall_bound(whole, k)
            if kind == "theorem 4.1"
            else tail_bound(vector, k, int(tree.rank.max()) + 1)
        )
        if not alphabet:
            bound = tunstall_bound(whole, k) - tunstall_bound(whole, 0)
        error = max(error, expected_tokens(tree, vector) - bound)
    return {"error": error}


@measurement("proof")
def tunstall_code(bench: Workbench, last: int = 1) -> dict[str, float]:
    """The optimal tree of six drafts as the inside of a Tunstall tree: its leaves' mean length
    against its tokens.

    Args:
        bench: not used.
        last: 1, or 0 to forget the last symbol of a sequence.
    """
    head = falling(planned(1.0))[:6]
    ranks = max(1, math.ceil((1 - sum(head)) / max(head[-1], 1e-3)))
    vector = (*head, *([(1 - sum(head)) / ranks] * ranks))
    tree = likeliest_tree(vector, 7, 6, len(vector))
    chance = reach(tree, vector)
    mean = sum(
        chance[i] * weight * (int(tree.depth[i]) + last)
        for i in range(len(tree))
        for weight in vector[len(tree.children[i]) :]
    )
    return {"error": abs(mean - expected_tokens(tree, vector))}


@measurement("proof")
def queue_of_print(bench: Workbench, sizes: int = 1) -> dict[str, float]:
    """What Sequoia's trees for its printed vector lack to those of a priority queue of `sizes`
    times as many nodes."""
    vector = published()["llama3-8b-70b-cnn"]["acceptance"]
    falls, error = tuple(sorted(vector, reverse=True)), 0.0
    for size in (8, 16, 32, 64, 128, 256):
        other = expected_tokens(likeliest_tree(falls, sizes * size, min(64, size - 1), 32), vector)
        error = max(error, other - best_tree(vector, size, min(64, size - 1), 32)[1])
    return {"error": error}
