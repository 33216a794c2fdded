"""Theorems and identities: the largest error that exact enumeration or a closed form finds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product

import numpy as np

from ..builders.base import Draft
from ..builders.plans import best_tree, priority_queue_tree
from ..config.run_config import RunConfig, compatible
from ..drafters.models import ModelSession
from ..models.table import toy_pair
from ..proof.lossless import cases
from ..proof.node import ACCEPTANCE
from ..record.vectors import expected_tokens, reach
from ..sampling.distributions import Sampling, total_variation
from ..sampling.randomness import Seeded
from ..tree import TokenTree, Topology
from .number import measurement
from .workbench import Workbench

exact = measurement("proof")


@exact
def lossless(workbench: Workbench, builder: str, verifier: str) -> float:
    """The error of the row of `check` for a builder and a rule; 1 where a text differs that must be
    equal."""
    own = [
        case
        for case in cases([builder], [verifier])
        if case.scheme == compatible(case.config).scheme
    ]
    row = own[0].prove()
    return float(row.difference is not None) if row.error is None else row.error


@exact
def corrected_law(workbench: Workbench, residual: str) -> float:
    """How far one token's distribution is from the target's, in total variation, if corrections are
    drawn from this."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    weights = {"p - q": np.maximum(p - q, 0), "q - p": np.maximum(q - p, 0), "p": p}[residual]
    accepted = np.minimum(p, q)
    return total_variation(accepted + (1 - accepted.sum()) * weights / weights.sum(), p)


@exact
def closed_form(
    workbench: Workbench, rule: str, p: Sequence[float], q: Sequence[float], k: int, printed: float
) -> float:
    """How far the chance that one of k children is accepted is from what is printed."""
    return abs(float(ACCEPTANCE[rule](np.array(p), np.array(q), k).sum()) - printed)


def vectors() -> list[np.ndarray]:
    """Random acceptance vectors of five ranks, every second one falling."""
    rng = Seeded(3)
    rising = [np.minimum(rng.noise(number, 5) / 8, 0.9) for number in range(12)]
    return [np.sort(v)[::-1] if number % 2 == 0 else v for number, v in enumerate(rising)]


def labelled_trees(nodes: int) -> list[Topology]:
    """Every tree whose nodes are numbered so that parents come first."""
    return [Topology((-1, *parents)) for parents in product(*map(range, range(1, nodes)))]


@exact
def best_of_all(workbench: Workbench) -> float:
    """What the dynamic programme lacks to the best of all trees of up to seven nodes."""
    error = 0.0
    for n in range(2, 8):
        trees = labelled_trees(n)
        for vector in map(tuple, vectors()):
            most = max(expected_tokens(tree, vector) for tree in trees)
            planned = expected_tokens(best_tree(vector, n, n - 1, 5)[0], vector)
            error = max(error, abs(most - planned))
    return error


@exact
def scores(workbench: Workbench) -> float:
    """The sum of the nodes' scores against the mean number of tokens over everything that can be
    accepted."""
    error = 0.0
    for tree, values in product(labelled_trees(5), vectors()):
        vector = tuple(values / max(1.0, values.sum()))
        chance = reach(tree, vector)
        mean = 0.0
        for node in range(len(tree)):
            ends_here = chance[node] - sum(chance[child] for child in tree.children[node])
            mean += ends_here * (int(tree.depth[node]) + 1)
        error = max(error, abs(mean - expected_tokens(tree, vector)))
    return error


@exact
def queue(workbench: Workbench) -> float:
    """What the priority queue lacks to the dynamic programme, for falling vectors."""
    error = 0.0
    for values, n in product(vectors(), (4, 8, 16, 64)):
        vector = tuple(np.sort(values / max(1.0, values.sum()))[::-1].tolist())
        depth = min(n - 1, 8)
        tokens = expected_tokens(priority_queue_tree(vector, n, depth, 5), vector)
        error = max(error, abs(best_tree(vector, n, depth, 5)[1] - tokens))
    return error


@exact
def theorem_f2(workbench: Workbench) -> float:
    """By how much the proof's k-ary tree falls below b log n / (10 log log n) from its n_0 on, for
    rejection k^-b; log n_0 = (1 + exp(2^(b + 1) / log 1.9))^b."""
    error = 0.0
    for b in (0.3, 0.5, 0.71, 1.0):
        log_n_0 = (1 + math.exp(2 ** (b + 1) / math.log(1.9))) ** b
        for log_n in np.geomspace(log_n_0, 20 * log_n_0, 20):
            k = math.floor(log_n ** (1 / b))
            levels = math.floor(log_n / math.log(k))
            rejected = k**-b
            tokens = (1 - (1 - rejected) ** (levels + 1)) / rejected
            error = max(error, b * log_n / (10 * math.log(log_n)) - tokens)
    return error


def grown(builder: str, seed: int, vocab: int = 3) -> TokenTree:
    """A tree on a toy draft."""
    method = RunConfig(builder=builder).builder
    session = toy_pair(vocab=vocab, seed=seed).open([0, 1])[1]
    assert session is not None
    tree = TokenTree(1, start=1, scheme="top")
    draft = Draft(ModelSession("model", session), tree, [0, 1], Sampling())
    return method(draft, Seeded(seed), "top", 50, method.start())


def keys_of(tree: TokenTree) -> list[float]:
    """What the nodes were chosen by, without the root."""
    return [key for key in tree.keys if key is not None]


@exact
def greedy_sum(workbench: Workbench) -> float:
    """What the greedy tree of six nodes lacks to the largest sum of slot chances (equation 11) of
    all trees."""
    error = 0.0
    for seed in range(8):
        full = grown("k-ary:width=3,depth=2", seed)
        path_prob, keys = [1.0], [1.0]
        needs: list[set[int]] = [set()]  # the nodes that must be drawn before this one
        for node in range(1, len(full)):
            parent = full.parents[node]
            q = full.draft_distributions[parent]
            elder = [other for other in full.children[parent] if other < node]
            path_prob.append(path_prob[parent] * float(q[full.tokens[node]]))
            keys.append(path_prob[parent] - sum(path_prob[other] for other in elder))
            needs.append({parent, *elder} - {0})
        most = max(
            sum(keys[node] for node in subset)
            for subset in combinations(range(1, len(full)), 5)
            if all(needs[node] <= set(subset) for node in subset)
        )
        error = max(error, most - sum(keys_of(grown("dyspec:size=6,depth=2", seed))))
    return error


@exact
def by_threshold(workbench: Workbench) -> float:
    """How many of the trees grown with the last greedy key as threshold are not the greedy tree."""

    def paths(tree: TokenTree) -> set[tuple[int, ...]]:
        shape = tree.topology
        return {tuple(tree.tokens[i] for i in shape.path(node)) for node in range(1, len(tree))}

    different = 0
    for seed in range(12):
        greedy = grown("dyspec:size=14,depth=4", seed, vocab=6)
        threshold = min(0.99, keys_of(greedy)[-1] * (1 - 1e-9))
        level = grown(f"dyspec-threshold:threshold={threshold!r},size=1000,depth=4", seed, vocab=6)
        different += paths(greedy) != paths(level)
    return different
