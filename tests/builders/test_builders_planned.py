"""Trees planned from an acceptance vector: the best of all trees, by two roads; and vectors that
follow the run."""

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import specviz
from specviz.builders.plans import best_tree, isotonic, priority_queue_tree
from specviz.decode import speculate
from specviz.record.running_acceptance import RunningAcceptance
from specviz.record.vectors import expected_tokens, path_acceptance
from specviz.tree import Topology
from tests.growing import BUILDERS, grow
from tests.proof.proofs import error_of

VERIFIERS = specviz.VERIFIERS
PUBLISHED = (0.7732, 0.1039, 0.0402, 0.0206, 0.0128, 0.0081, 0.0064, 0.0043)


@lru_cache
def all_shapes(nodes):
    """Every ordered tree of so many nodes, as nested tuples."""
    if nodes == 1:
        return [()]
    return [
        (first, *rest)
        for size in range(1, nodes)
        for first in all_shapes(size)
        for rest in all_shapes(nodes - size)
    ]


def value(shape, levels, depth=0):
    """Expected tokens of a nested shape; minus infinity where it is too deep or too wide."""
    if not shape:
        return 1.0
    if depth == len(levels) or len(shape) > len(levels[depth]):
        return -math.inf
    return 1.0 + sum(
        p * value(child, levels, depth + 1) for p, child in zip(levels[depth], shape, strict=False)
    )


@pytest.mark.parametrize("seed", range(12))
def test_sequoias_tree_is_the_best_of_all_trees(seed):
    """Vectors that rise and fall, with zeros, one for all levels or one per level, against every
    tree of the size."""
    generator = np.random.default_rng(seed)
    depth, width, size = 2 + seed % 3, 2 + seed % 2, 3 + seed % 6
    rows = generator.random((depth, width)) * (generator.random((depth, width)) > 0.25)
    levels = tuple(map(tuple, rows.tolist()))
    for acceptance in (levels, levels[0]):
        used = levels if acceptance is levels else levels[:1] * depth
        shape, found = best_tree(acceptance, size, depth, width)
        most = max(
            (n for n in range(1, size + 1) if any(value(s, used) > 0 for s in all_shapes(n))),
            default=1,
        )
        assert len(shape) == most
        assert found == pytest.approx(max(value(s, used) for s in all_shapes(most)), abs=1e-12)
        assert expected_tokens(shape, acceptance) == pytest.approx(found, abs=1e-12)
        assert shape.depth.max() <= depth and max(map(len, shape.children)) <= width


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8))
def test_the_priority_queue_equals_the_dynamic_programme_for_vectors_that_never_rise(
    seed, size, depth
):
    """One vector for all levels, and one for every level."""
    rows = -np.sort(-np.random.default_rng(seed).dirichlet(np.full(6, 0.5), depth))
    for vector in (tuple(rows[0].tolist()), tuple(map(tuple, rows.tolist()))):
        for width in (2, 6):
            shape = priority_queue_tree(vector, size, depth, width)
            best, found = best_tree(vector, size, depth, width)
            assert len(shape) == len(best)
            assert expected_tokens(shape, vector) == pytest.approx(found, abs=1e-12)


def test_optimal_says_that_it_smoothed_a_vector_that_rises():
    rising = (0.2, 0.6, 0.1)
    tree, _ = grow(BUILDERS["optimal"](size=6, acceptance=rising))
    assert tree.growth.smoothed and tree.growth.acceptance == rising
    assert tree.growth.expected <= best_tree(rising, 6, 6, 32)[1] + 1e-12
    assert not grow(BUILDERS["optimal"](size=6, acceptance=PUBLISHED))[0].growth.smoothed


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_smoothing_keeps_the_sum_and_never_rises(values):
    smooth = isotonic(tuple(values))
    assert sum(smooth) == pytest.approx(sum(values), abs=1e-9)
    assert all(b <= a + 1e-12 for a, b in pairwise(smooth))
    if all(b <= a for a, b in pairwise(values)):
        assert smooth == tuple(values)


@pytest.mark.parametrize("name", ["sequoia", "optimal"])
def test_planned_trees_record_keys_and_the_split_of_the_budget(name):
    tree, _ = grow(BUILDERS[name](size=12, acceptance=PUBLISHED))
    assert 1 + sum(tree.keys[1:]) == pytest.approx(tree.growth.expected)
    for node, children in enumerate(tree.children):
        assert tree.growth.split[node] == 1 + sum(tree.growth.split[child] for child in children)
    assert tree.growth.split[0] == len(tree)


def test_a_running_estimate_counts_what_was_accepted_by_rank():
    children = ((1, 2), (), (3,), ())
    running = RunningAcceptance.begin((0.5, 0.25))
    for _ in range(RunningAcceptance.EVERY):
        running = running.learn(children, (2, 3))
    n = RunningAcceptance.EVERY  # each step: root -> second child, then that one's first child
    assert (running.tried, running.accepted) == ((2 * n, n), (n, n))
    prior = RunningAcceptance.PRIOR
    assert running.vector == pytest.approx(
        ((prior * 0.5 + n) / (prior + 2 * n), (prior * 0.25 + n) / (prior + n))
    )


def test_children_after_the_accepted_one_count_as_tried_too():
    """The vector's numbers are shares of all accepted nodes with such a child, tried in turn or
    not."""
    running = RunningAcceptance.begin((0.5, 0.25, 0.1)).learn(((1, 2, 3), (), (), ()), (1,))
    assert (running.tried, running.accepted) == ((1, 1, 1), (1, 0, 0))


@pytest.mark.parametrize("name", ["sequoia", "optimal"])
def test_measured_acceptance_follows_the_run(name):
    builder = BUILDERS[name](size=8, acceptance="measured")
    trees = {}
    for closeness in (0.0, 1.0):
        pair = specviz.toy_pair(vocab=8, seed=3, closeness=closeness)
        config = specviz.RunConfig("ab", builder, VERIFIERS["sequoia"](), 1.0, max_new_tokens=200)
        trees[closeness] = list(speculate(pair, config))
    first, last = trees[1.0][0], trees[1.0][-8]
    assert first.growth.acceptance == trees[0.0][0].growth.acceptance
    assert max(Topology(last.parents).depth) > max(
        Topology(trees[0.0][-8].parents).depth
    )  # a good draft: deeper
    assert last.growth.acceptance[0] > trees[0.0][-8].growth.acceptance[0]
    pair = specviz.toy_pair(seed=1, closeness=0.2)
    assert (
        error_of(BUILDERS[name](size=4, acceptance="measured"), VERIFIERS["sequoia"](), pair)[0]
        < 1e-12
    )


@pytest.mark.parametrize(("size", "depth"), [(5, 2), (17, 4), (33, 8)])
def test_equal_growth_adds_as_many_nodes_in_each_level(size, depth):
    vector = (0.5, 0.2, 0.1, 0.05)
    shape = BUILDERS["equal-growth"](size=size, depth=depth, acceptance=vector).shape
    assert np.bincount(shape.depth)[1:].tolist() == [(size - 1) // depth] * depth
    chance = path_acceptance(shape, vector)
    for level in range(1, depth + 1):
        here = [node for node in range(len(shape)) if shape.depth[node] == level]
        above = [node for node in range(len(shape)) if shape.depth[node] == level - 1]
        slots = sorted((chance[node] * prob for node in above for prob in vector), reverse=True)
        assert sorted((chance[node] for node in here), reverse=True) == pytest.approx(
            slots[: len(here)]
        )
    best = expected_tokens(best_tree(vector, len(shape), depth, 4)[0], vector)
    assert 0.8 * best < expected_tokens(shape, vector) <= best + 1e-12
