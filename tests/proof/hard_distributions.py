"""Pairs of distributions at full size, of the kinds on which arithmetic goes wrong in different ways."""

from __future__ import annotations

import numpy as np

from specviz.distributions import softmax

KINDS = {
    "random": "two models that mostly agree",
    "peaked": "nearly all mass on a few tokens, others far below rounding",
    "flat": "p falls slowly, q is uniform",
    "sparse": "each has a few tokens, not the same ones",
    "tied": "every token has one of three probabilities",
}


def distributions_of_kind(kind: str, vocab: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Distributions of target and draft, p and q, float64 [vocab] each.

    Args:
        kind: one of `KINDS`.
        vocab: V, at least 2.
        seed: the same seed gives the same ones.
    """
    rng = np.random.default_rng([seed, vocab, list(KINDS).index(kind)])
    if kind == "random":
        logits = 2 * rng.normal(size=vocab)
        return softmax(logits), softmax(logits + rng.normal(size=vocab))
    if kind == "peaked":
        logits = 12 * rng.normal(size=vocab)
        return softmax(logits), softmax(0.9 * logits + 2 * rng.normal(size=vocab))
    if kind == "flat":
        p, q = 0.95 ** (30 / vocab * np.arange(vocab)), np.ones(vocab)
    elif kind == "sparse":
        p, q = (rng.random(vocab) * (rng.permutation(vocab) < max(2, vocab // 8)) for _ in range(2))
        common = int(p.argmax())
        q[common] = 0.1 * q.sum()
    else:
        p, q = rng.choice([1.0, 2.0, 4.0], vocab), rng.choice([1.0, 2.0, 4.0], vocab)
    return p / p.sum(), q / q.sum()
