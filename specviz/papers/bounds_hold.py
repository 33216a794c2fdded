"""Bounds and identities at single nodes and for whole trees: by how much they fail at most, and ways to break each."""

from __future__ import annotations

import math

import numpy as np

from ..acceptance.vectors import expected_tokens, published, reach
from ..builders.sequoia import best_tree, falling, likeliest_tree
from ..distributions import total_variation
from ..randomness import Seeded
from ..theory import node
from ..theory.accepted_index_entropy import race_index_entropy, rejection_index_entropy
from ..theory.bounds import (
    bretagnolle_huber_bound,
    harmonic_bound,
    kl_divergence,
    leaf_bound,
    pinsker_bound,
    race_acceptance,
    tail_bound,
    tunstall_bound,
)
from .claim import Claim, measurement, proof
from .on_rows import planned
from .workbench import Workbench

exact = measurement("proof")
PAIRS = 120


def _rows() -> list[tuple[np.ndarray, np.ndarray]]:
    """Pairs (p, q) of five tokens, from nearly equal to far apart."""
    rng, pairs = Seeded(5), []
    for turn in range(PAIRS):
        p, other = (rng.noise(2 * turn + i, 5) ** (0.3 + turn % 4) for i in (0, 1))
        p, other, mix = p / p.sum(), other / other.sum(), turn / (PAIRS - 1)
        pairs.append((p, (1 - mix) * p + mix * other))
    return pairs


KINDS = {
    # bound, what it bounds from above or below, and the sign: +1 for a lower bound
    "pinsker": (lambda p, q: pinsker_bound(kl_divergence(q, p)) - 1, lambda p, q: np.minimum(p, q).sum() - 1, 1),
    "huber": (
        lambda p, q: bretagnolle_huber_bound(kl_divergence(q, p)) - 1,
        lambda p, q: np.minimum(p, q).sum() - 1,
        1,
    ),
    "lemma 3.1": (harmonic_bound, race_acceptance, 1),
    "ceiling": (lambda p, q: np.minimum(p, q).sum(), race_acceptance, -1),
    "acceptance": (lambda p, q: 1 - total_variation(p, q), lambda p, q: (q * np.minimum(1, p / q)).sum(), 0),
}


@exact
def bound_holds(bench: Workbench, kind: str, factor: float = 1.0):
    """By how much a bound, or an identity, fails on 120 pairs of distributions and on the rows of two texts."""
    bound, value, sign = KINDS[kind]
    pairs = _rows() + [(row.p, row.q) for text in list(bench.texts())[:2] for row in bench.rows(text, 1.0)]
    gaps = [
        factor * float(bound(p, q)) - float(value(p, np.maximum(q, 1e-300)))
        for p, q in pairs
        if np.isfinite(bound(p, q))
    ]
    return {"error": max(abs(gap) if sign == 0 else sign * gap for gap in gaps)}


def bound_proof(what: str, kind: str, broken: float) -> Claim:
    """The claim that a bound holds; times `broken` it would not."""
    says = f"{what} holds on {PAIRS} pairs of distributions and along two texts"
    return proof(says, bound_holds(kind=kind), {"factor": broken}, bound=1e-9)


@exact
def index_bound(bench: Workbench, method: str, constant: float = 0.0):
    """By how much the entropy of the accepted index falls below KL, or for a constant rises above the upper bound.

    Args:
        bench: not used.
        method: "rejection" or "race" of independent drafts, or "distinct", drawn without replacement.
        constant: 0 for the lower bound; else of the upper one, KL + log(KL + 1) + constant.
    """
    error = -math.inf
    for p, q in _rows():
        kl = kl_divergence(p, q) / math.log(2)
        if method == "distinct":
            shares = node.sequoia_acceptance(p, q, len(p))
            bits = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
        else:
            bits = {"rejection": rejection_index_entropy, "race": race_index_entropy}[method](p, q) / math.log(2)
        error = max(error, bits - (kl + math.log2(kl + 1) + constant) if constant else kl - bits)
    return {"error": error}


@exact
def tree_bound(bench: Workbench, kind: str, rule: str = "sequoia", alphabet: bool = True):
    """By how much the tokens of the optimal tree exceed a bound, at any number of drafts; `alphabet` counts log |R|."""
    vector = falling(planned(1.0))
    rest = max(0.0, 1 - sum(vector))
    more = max(1, bench.pair.vocab_size - len(vector))
    whole, error = (*vector, *([rest / more] * more)), -math.inf
    for k in (1, 2, 4, 8, 16, 32, 64, 128):
        tree = likeliest_tree(vector, k + 1, 64, 32)
        used = int(tree.rank.max()) + 1
        known = {"theorem 4.1": tunstall_bound(whole, k), "leaves": leaf_bound(whole, k)}
        bound = known[kind] if kind in known else tail_bound(vector, k, used)
        if not alphabet:
            bound = tunstall_bound(whole, k) - tunstall_bound(whole, 0)
        error = max(error, expected_tokens(tree, vector) - bound)
    return {"error": error}


@exact
def tunstall_code(bench: Workbench, kind: str, last: int = 1):
    """The optimal tree of six drafts as the inside of a Tunstall tree, without or with its leaves' last symbol.

    Args:
        bench: the pair.
        kind: "length", the mean length of its leaves' sequences against the tree's tokens, or "bits", the entropy of
            as many symbols against the length of a codeword.
        last: 1, or 0 to forget the last symbol of a sequence.
    """
    head = falling(planned(1.0))[:6]
    ranks = max(1, math.ceil((1 - sum(head)) / max(head[-1], 1e-3)))
    vector = (*head, *([(1 - sum(head)) / ranks] * ranks))
    tree = likeliest_tree(vector, 7, 6, len(vector))
    chance = reach(tree, vector)
    leaves = [
        (chance[i] * share, int(tree.depth[i]) + last)
        for i in range(len(tree))
        for rank, share in enumerate(vector)
        if rank >= len(tree.children[i])
    ]
    mean = sum(share * length for share, length in leaves)
    if kind == "length":
        return {"error": abs(mean - expected_tokens(tree, vector))}
    entropy = -sum(share * math.log2(share) for share in vector)
    width = math.ceil(math.log2(len(leaves))) if last else math.floor(math.log2(len(tree)))
    return {"error": entropy * (mean if last else expected_tokens(tree, vector)) - width}


@exact
def queue_of_print(bench: Workbench, sizes: int = 1):
    """What Sequoia's trees for its printed vector lack to those of a priority queue of `sizes` times as many nodes."""
    vector = published()["llama3-8b-70b-cnn"]["acceptance"]
    falls, error = tuple(sorted(vector, reverse=True)), 0.0
    for size in (8, 16, 32, 64, 128, 256):
        other = expected_tokens(likeliest_tree(falls, sizes * size, min(64, size - 1), 32), vector)
        error = max(error, other - best_tree(vector, size, min(64, size - 1), 32)[1])
    return {"error": error}
