"""Theorems and identities: the largest error that exact enumeration or a closed form finds, and
ways to break each.

Every function returns {"error": ...}; the argument that breaks it is the last one, and a test
breaks every claim.
"""

from __future__ import annotations

import math
from itertools import combinations, product
from typing import Any

import numpy as np

from ..builders.sequoia import best_tree, likeliest_tree
from ..config.run_config import RunConfig, compatible
from ..drafters.base import Draft
from ..drafters.models import ModelSession
from ..models.table import toy_pair
from ..proof import node
from ..proof.lossless import cases
from ..record.vectors import expected_tokens, reach
from ..sampling.distributions import Sampling, total_variation
from ..sampling.randomness import Seeded
from ..tree import TokenTree, Topology
from .workbench import Workbench, measurement

VECTORS, LARGEST, SEEDS = 12, 7, 8
FORMS = {
    "sequoia": node.sequoia_acceptance,
    "specinfer": node.specinfer_acceptance,
    "spectr": node.spectr_acceptance,
    "target-match": node.target_match_acceptance,
    "naive": node.naive_acceptance,
}
ROWS = {"same": ([0.6, 0.4], [0.6, 0.4], 1), "cover": ([1.0, 0.0], [0.5, 0.5], 2)}

exact = measurement("proof")


@exact
def lossless(bench: Workbench, builder: str, rule: str) -> dict[str, float]:
    """The error of the row of `check` for a builder and a rule; 1 where a text differs that must be
    equal."""
    row = next(
        case for case in cases([builder], [rule]) if case.scheme == compatible(case.config).scheme
    ).prove()
    return {"error": float(row.difference is not None) if row.error is None else row.error}


@exact
def corrected_law(bench: Workbench, residual: str) -> dict[str, float]:
    """How far one token's distribution is from the target's, in total variation, if corrections are
    drawn from this."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    weights = {"p - q": np.maximum(p - q, 0), "q - p": np.maximum(q - p, 0), "p": p}[residual]
    accepted = np.minimum(p, q)
    return {"error": total_variation(accepted + (1 - accepted.sum()) * weights / weights.sum(), p)}


@exact
def closed_form(bench: Workbench, rows: str, printed: float, rule: str) -> dict[str, float]:
    """How far the chance that one of the children is accepted is from what is printed."""
    p, q, k = ROWS[rows]
    return {"error": abs(float(FORMS[rule](np.array(p), np.array(q), k).sum()) - printed)}


def _vectors() -> list[tuple[float, ...]]:
    """Random acceptance vectors, every second one falling."""
    rng = Seeded(3)
    return [
        tuple(sorted((rng.noise(i, 5) / 8).clip(0, 0.9).tolist(), reverse=i % 2 == 0))
        for i in range(VECTORS)
    ]


def _trees(nodes: int) -> list[Topology]:
    return [Topology((-1, *parents)) for parents in product(*map(range, range(1, nodes)))]


@exact
def best_of_all(bench: Workbench, depth: int = 99, sort: bool = False) -> dict[str, float]:
    """What the dynamic programme lacks to the best of all trees of up to seven nodes; `sort` plans
    for a sorted " "vector."""
    error = 0.0
    for n in range(2, LARGEST + 1):
        trees = [tree for tree in _trees(n) if tree.depth.max() <= depth]
        for vector in _vectors():
            planned_for = tuple(sorted(vector, reverse=True)) if sort else vector
            tokens = expected_tokens(best_tree(planned_for, n, min(depth, n - 1), 5)[0], vector)
            error = max(error, abs(max(expected_tokens(tree, vector) for tree in trees) - tokens))
    return {"error": error}


@exact
def scores(bench: Workbench, shift: int = 0) -> dict[str, float]:
    """The sum of the nodes' scores against the mean number of tokens over everything that can be
    accepted."""
    error = 0.0
    for tree, vector in product(_trees(5), _vectors()):
        vector = tuple(np.array(vector) / max(1.0, sum(vector)))
        chance = reach(tree, vector)
        end_prob = [
            chance[i] - sum(chance[child] for child in tree.children[i]) for i in range(len(tree))
        ]
        mean = sum(prob * (int(tree.depth[i]) + 1 + shift) for i, prob in enumerate(end_prob))
        error = max(error, abs(mean - expected_tokens(tree, vector)))
    return {"error": error}


@exact
def queue(bench: Workbench, width: int = 5) -> dict[str, float]:
    """What the priority queue, with so many children a node, lacks to the dynamic programme, for
    falling vectors."""
    vectors = [
        tuple(sorted((np.array(v) / max(1.0, sum(v))).tolist(), reverse=True)) for v in _vectors()
    ]
    error = 0.0
    for v, n in product(vectors, (4, 8, 16, 64)):
        depth = min(n - 1, 8)
        error = max(
            error,
            abs(
                best_tree(v, n, depth, 5)[1]
                - expected_tokens(likeliest_tree(v, n, depth, width), v)
            ),
        )
    return {"error": error}


def n_0(b: float) -> float:
    """The logarithm of the size from which theorem F.2's proof holds: (1 + exp(2^(b + 1) / log
    1.9))^b."""
    return (1 + math.exp(2 ** (b + 1) / math.log(1.9))) ** b


@exact
def theorem_f2(bench: Workbench, divisor: float = 10.0) -> dict[str, float]:
    """By how much the proof's k-ary tree falls below b log n / (10 log log n) from its n_0 on, for
    rejection k^-b."""
    error = 0.0
    for b in (0.3, 0.5, 0.71, 1.0):
        for log_n in np.geomspace(n_0(b), 20 * n_0(b), 20):
            k = math.floor(log_n ** (1 / b))
            levels = math.floor(log_n / math.log(k))
            r = k**-b
            value = (1 - (1 - r) ** (levels + 1)) / r
            error = max(error, b * log_n / (divisor * math.log(log_n)) - value)
    return {"error": max(0.0, error)}


def grown(builder: str, seed: int, vocab: int = 3):
    """A tree on a toy draft."""
    method = RunConfig(builder=builder).builder
    session: Any = toy_pair(vocab=vocab, seed=seed).open([0, 1])[1]
    tree = TokenTree(1, start=1, scheme="top")
    draft = Draft(ModelSession("model", session), tree, [0, 1], Sampling())
    return method(draft, Seeded(seed), "top", 50, method.start())


@exact
def greedy_sum(bench: Workbench, depth: int = 2) -> dict[str, float]:
    """What the greedy tree of six nodes lacks to the largest sum of slot chances (equation 11) of
    all trees."""
    error = 0.0
    for seed in range(SEEDS):
        full, keys, mass = grown("k-ary:width=3,depth=2", seed), [1.0], [1.0]
        needs: list[set[int]] = [set()]
        for i in range(1, len(full)):
            parent, q = full.parents[i], full.draft_distributions[full.parents[i]]
            elder = [other for other in full.children[parent] if other < i]
            mass.append(mass[parent] * float(q[full.tokens[i]]))
            keys.append(mass[parent] * (1 - sum(float(q[full.tokens[other]]) for other in elder)))
            needs.append({parent, *elder} - {0})
        subsets = combinations(range(1, len(full)), 5)
        best = max(
            sum(keys[i] for i in subset)
            for subset in subsets
            if all(needs[i] <= set(subset) for i in subset)
        )
        error = max(error, best - sum(grown(f"dyspec:size=6,depth={depth}", seed).keys[1:]))
    return {"error": error}


@exact
def by_threshold(bench: Workbench, factor: float = 1.0) -> dict[str, float]:
    """How many of the trees grown with the last greedy key as threshold are not the greedy tree."""
    error = 0
    for seed in range(12):
        greedy = grown("dyspec:size=14,depth=4", seed, vocab=6)
        threshold = min(0.99, factor * greedy.keys[-1] * (1 - 1e-9))
        level = grown(f"dyspec-threshold:threshold={threshold!r},size=1000,depth=4", seed, vocab=6)
        paths = [
            {tuple(tree.tokens[i] for i in tree.topology.path(n)) for n in range(1, len(tree))}
            for tree in (greedy, level)
        ]
        error += paths[0] != paths[1]
    return {"error": error}
