"""Blocks of the attention mask, by definition; and the entropy of the accepted index, index by
index."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.papers.bounds import rejection_index_entropy
from specviz.papers.runs import BLOCK, ORDERS, count_blocks, random_tree
from specviz.proof.node import specinfer_acceptance
from specviz.sampling.distributions import entropy
from specviz.sampling.randomness import Seeded
from specviz.tree import Topology
from tests.engine.test_tree import shapes


@given(shapes(), st.sampled_from((0, 1, 5, 12, 40)))
def test_blocks_are_counted_as_they_are_defined(shape, prefix):
    for make in ORDERS.values():
        order = make(shape)
        place = {node: prefix + i for i, node in enumerate(order)}
        assert sorted(order) == list(range(len(shape)))
        assert all(
            place[parent] < place[node] for node, parent in enumerate(shape.parents) if parent >= 0
        )
        nodes = range(len(shape))
        pairs = {
            (place[node] - prefix, place[above])
            for node in nodes
            for above in (node, 0, *shape.path(node))
        }
        pairs |= {(row, column) for row in nodes for column in range(prefix)}
        assert count_blocks(shape, order, prefix) == len(
            {(row // BLOCK, column // BLOCK) for row, column in pairs}
        )


def test_the_heaviest_child_comes_first_and_ties_stay_as_drawn():
    assert Topology((-1, 0, 0, 2, 2, 0)).heavy_path == (0, 2, 3, 4, 1, 5)
    assert Topology((-1, 0, 0, 1, 2)).heavy_path == (0, 1, 3, 2, 4)


@given(shapes())
def test_a_path_falls_into_few_runs_in_heavy_path_order(shape):
    """Every step off a heavy path at least halves the subtree (Sleator and Tarjan 1981)."""
    place = {node: i for i, node in enumerate(shape.heavy_path)}
    for node in range(len(shape)):
        places = [0, *(place[above] for above in shape.path(node))]
        runs = 1 + sum(later != earlier + 1 for earlier, later in pairwise(places))
        assert runs <= 1 + math.log2(len(shape))


def test_random_trees_have_the_block_counts_that_dyspec_prints():
    """Table 5 of DySpec, blocks of 32; the paper does not say what random trees they are."""
    trees = [random_tree(512, Seeded(seed)) for seed in range(12)]
    for name, printed in (("as drawn", 135.5), ("depth-first", 52.8)):
        assert np.mean([count_blocks(tree, ORDERS[name](tree)) for tree in trees]) == pytest.approx(
            printed, rel=0.05
        )


@pytest.mark.parametrize("size", [2, 3, 8, 40])
def test_the_index_entropy_is_the_sum_over_single_steps(size):
    chance = np.random.default_rng(size)
    for _ in range(8):
        p, q = (chance.dirichlet(np.full(size, 0.6)) for _ in range(2))
        q = 0.95 * q + 0.05 / size  # so that the chances below end within what is summed
        chances = specinfer_acceptance(p, q, 20_000)
        assert chances.sum() == pytest.approx(1, abs=1e-9)
        assert rejection_index_entropy(p, q) == pytest.approx(entropy(chances), abs=1e-7)


def test_equal_rows_have_no_index_entropy_and_a_missing_token_has_no_end():
    p = np.array([0.5, 0.3, 0.2, 0.0])
    assert rejection_index_entropy(p, p) == pytest.approx(0, abs=1e-12)
    assert rejection_index_entropy(p, np.array([0.5, 0.5, 0.0, 0.0])) == math.inf
    geometric = -math.log(0.5) - math.log(0.5)  # chance 1/2 at every index
    assert rejection_index_entropy(np.array([1.0, 0, 0, 0]), p) == pytest.approx(
        geometric, abs=1e-4
    )
