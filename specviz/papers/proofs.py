"""Theorems and identities: the largest error that exact enumeration or a closed form finds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from ..builders.plans import best_tree, isotonic, priority_queue_tree
from ..config.run_config import RunConfig, compatible
from ..decode import speculate
from ..models.table import toy_pair
from ..proof.bounds import path_ceiling
from ..proof.enumerate import enumerate_tree
from ..proof.lossless import cases
from ..proof.node import ACCEPTANCE
from ..record.step import Step
from ..record.vector_files import published
from ..record.vectors import expected_tokens, path_acceptance
from ..sampling.distributions import total_variation
from ..sampling.randomness import Seeded
from ..tree import Topology
from ..verifiers import VERIFIERS
from .along import planned
from .number import proof

Errors = Iterator[float]


@proof
def lossless(builder: str, verifier: str) -> Errors:
    """The error of the row of `check` for a builder and a rule; 1 where a text differs that must be
    equal."""
    # `check` proves a rule under every scheme that it knows; a claim is about the usual one.
    found = cases([builder], [verifier])
    row = next(case for case in found if case.scheme == compatible(case.config).scheme).prove()
    yield float(row.difference is not None) if row.error is None else row.error


@proof
def corrected_law(residual: str) -> Errors:
    """How far one token's distribution is from the target's, in total variation, if corrections are
    drawn from this."""
    p, q = np.array([0.6, 0.3, 0.1]), np.array([0.2, 0.3, 0.5])
    weights = {"p - q": np.maximum(p - q, 0), "q - p": np.maximum(q - p, 0), "p": p}[residual]
    accepted = np.minimum(p, q)
    yield total_variation(accepted + (1 - accepted.sum()) * weights / weights.sum(), p)


@proof
def closed_form(
    rule: str, p: Sequence[float], q: Sequence[float], k: int, printed: float
) -> Errors:
    """How far the chance that one of k children is accepted is from what is printed."""
    yield abs(float(ACCEPTANCE[rule](np.array(p), np.array(q), k).sum()) - printed)


@proof
def one_path() -> Errors:
    """What block verification lacks to the most that can be accepted of one path of random rows."""
    rng = Seeded(7)
    for levels, number in product((1, 2), range(8)):
        shape = Topology(tuple(range(-1, levels)))
        drawn = []
        for row in range(2 * levels + 1):
            drawn.append(rng.noise(100 * levels + 10 * number + row, 3))
        rows = np.array([row / row.sum() for row in drawn])
        p, q = rows[: levels + 1], rows[levels + 1 :]
        accepted = enumerate_tree(VERIFIERS["block"](), shape, p, q, "iid").accepted
        yield path_ceiling(p[:levels], q) - accepted


def vectors() -> list[np.ndarray]:
    """Random acceptance vectors of five ranks, every second one falling."""
    rng = Seeded(3)
    rising = [np.minimum(rng.noise(number, 5) / 8, 0.9) for number in range(12)]
    for vector in rising[::2]:
        vector[::-1].sort()  # in place, the largest first
    return rising


def labelled_trees(nodes: int) -> list[Topology]:
    """Every tree whose nodes are numbered so that parents come first."""
    return [Topology((-1, *parents)) for parents in product(*map(range, range(1, nodes)))]


@proof
def best_of_all() -> Errors:
    """What the dynamic programme lacks to the best of all trees of up to seven nodes."""
    for n in range(2, 8):
        trees = labelled_trees(n)
        for vector in map(tuple, vectors()):
            most = max(expected_tokens(tree, vector) for tree in trees)
            planned = expected_tokens(best_tree(vector, n, n - 1, 5)[0], vector)
            yield abs(most - planned)


def mean_length(tree: Topology, vector: Sequence[float]) -> float:
    """Mean tokens of a step over the nodes where it can end, for a vector that sums to 1."""
    mean = 0.0
    for node, chance in enumerate(path_acceptance(tree, tuple(vector))):
        # It ends at a node if that is accepted and none of its children is.
        ends = chance * sum(vector[len(tree.children[node]) :])
        mean += ends * (int(tree.depth[node]) + 1)
    return mean


@proof
def scores() -> Errors:
    """The sum of the nodes' scores against the mean number of tokens over everything that can be
    accepted."""
    for tree, values in product(labelled_trees(5), vectors()):
        vector = tuple(values / max(1.0, values.sum()))
        mean = mean_length(tree, (*vector, 1 - sum(vector)))
        yield abs(mean - expected_tokens(tree, vector))


@proof
def tunstall_code() -> Errors:
    """The optimal tree of six drafts as the inside of a Tunstall tree: its leaves' mean length
    against its tokens."""
    # What six ranks leave is put on equal ranks, each at most as likely as the last of the six.
    head = isotonic(planned(1.0))[:6]
    ranks = max(1, math.ceil((1 - sum(head)) / max(head[-1], 1e-3)))
    vector = (*head, *([(1 - sum(head)) / ranks] * ranks))
    tree = priority_queue_tree(vector, 7, 6, len(vector))
    yield abs(mean_length(tree, vector) - expected_tokens(tree, vector))


@proof
def queue() -> Errors:
    """What the priority queue lacks to the dynamic programme, for falling vectors."""
    falling = []
    for v in vectors():
        falling.append(tuple(np.sort(v / max(1.0, v.sum()))[::-1].tolist()))
    for vector, n in product(falling, (4, 8, 16, 64)):
        yield abs(lack_of_queue(vector, n, min(n - 1, 8)))


@proof
def queue_of_print() -> Errors:
    """What Sequoia's trees for its printed vector lack to those of a priority queue."""
    vector = published()["llama3-8b-70b-cnn"].acceptance
    for n in (8, 16, 32, 64, 128, 256):
        yield -lack_of_queue(vector, n, min(64, n - 1))


def lack_of_queue(vector: tuple[float, ...], size: int, depth: int) -> float:
    """How many tokens more the dynamic programme's tree brings than the priority queue's."""
    falling = tuple(sorted(vector, reverse=True))  # what the queue takes for the vector
    tree = priority_queue_tree(falling, size, depth, len(vector))
    return best_tree(vector, size, depth, len(vector))[1] - expected_tokens(tree, vector)


@proof
def theorem_f2() -> Errors:
    """By how much the proof's k-ary tree falls below b log n / (10 log log n) from its n_0 on, for
    rejection k^-b; log n_0 = (1 + exp(2^(b + 1) / log 1.9))^b."""
    for b in (0.3, 0.5, 0.71, 1.0):
        log_n_0 = (1 + math.exp(2 ** (b + 1) / math.log(1.9))) ** b
        for log_n in np.geomspace(log_n_0, 20 * log_n_0, 20):
            k = math.floor(log_n ** (1 / b))
            levels = math.floor(log_n / math.log(k))
            rejected = k**-b
            tokens = (1 - (1 - rejected) ** (levels + 1)) / rejected
            yield b * log_n / (10 * math.log(log_n)) - tokens


def grown(builder: str, seed: int, vocab: int = 3) -> Step:
    """The first step on a toy pair: a tree of the draft's most probable tokens."""
    config = RunConfig("ab", builder, "target-match", temperature=1.0, seed=seed)
    return next(speculate(toy_pair(vocab=vocab, seed=seed), config))


def keys_of(step: Step) -> list[float]:
    """What the nodes were chosen by, without the root, falling."""
    return sorted((key for key in step.keys if key is not None), reverse=True)


@proof
def greedy_sum() -> Errors:
    """What the greedy tree of six nodes lacks to the largest sum of slot chances (equation 11) of
    all trees."""
    for seed in range(8):
        full = grown("k-ary:width=3,depth=2", seed)
        below = range(1, len(full.parents))
        path_prob = [1.0]
        keys = [1.0]
        needs: list[set[int]] = [set()]  # the nodes that must be drawn before this one
        for node in below:
            parent = full.parents[node]
            elder = []
            for other in below:
                if full.parents[other] == parent and other < node:
                    elder.append(other)
            path_prob.append(path_prob[parent] * (full.draft_prob[node] or 0.0))
            keys.append(path_prob[parent] - sum(path_prob[other] for other in elder))
            needs.append({parent, *elder} - {0})
        # Every set of nodes that a builder could draw: no node without those it depends on.
        most = 0.0
        for subset in combinations(below, 5):
            if all(needs[node] <= set(subset) for node in subset):
                most = max(most, sum(keys[node] for node in subset))
        yield most - sum(keys_of(grown("dyspec:size=6,depth=2", seed)))


@proof
def by_threshold() -> Errors:
    """Whether a tree that is grown with the last greedy key as threshold is not the greedy tree."""

    def paths(step: Step) -> set[tuple[int, ...]]:
        shape = Topology(step.parents)
        found = set()
        for node in range(1, len(shape)):
            found.add(tuple(step.tokens[above] for above in shape.path(node)))
        return found

    for seed in range(12):
        greedy = grown("dyspec:size=14,depth=4", seed, vocab=6)
        # The last node that the greedy tree took is just above the threshold.
        threshold = min(0.99, keys_of(greedy)[-1] * (1 - 1e-9))
        level = grown(f"dyspec-threshold:threshold={threshold!r},size=1000,depth=4", seed, vocab=6)
        yield paths(greedy) != paths(level)
