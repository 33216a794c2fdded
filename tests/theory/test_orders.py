"""Orders of the attention mask: block counts by definition, and what can be said of all trees."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from specviz.plots import blocks as plot
from specviz.randomness import Seeded
from specviz.theory.mask_order import ORDERS, block_pairs, count_blocks, fewest_blocks, random_tree
from specviz.tree import Topology
from tests.engine.test_tree import shapes

BY_SUBTREES = ("depth-first", "heavy-path")


def every_tree(size):
    for parents in itertools.product(*(range(node) for node in range(1, size))):
        yield Topology((-1, *parents))


def counted(shape, order, block):
    """By the definition: node after node, ancestor after ancestor."""
    place = {node: i for i, node in enumerate(order)}
    attended = {(place[node], place[above]) for node in range(len(shape)) for above in (node, 0, *shape.path(node))}
    return len({(row // block, column // block) for row, column in attended})


def fewest(shape, block):
    """By trying every order."""
    return min(count_blocks(shape, order, block) for order in itertools.permutations(range(len(shape))))


@given(shapes())
def test_every_order_lists_every_node_once_and_parents_first(shape):
    for order in (make(shape) for make in ORDERS.values()):
        place = {node: i for i, node in enumerate(order)}
        assert sorted(order) == list(range(len(shape)))
        assert all(place[parent] < place[node] for node, parent in enumerate(shape.parents) if parent >= 0)


def test_the_heaviest_child_comes_first_and_ties_stay_as_drawn():
    assert Topology((-1, 0, 0, 2, 2, 0)).heavy_path == (0, 2, 3, 4, 1, 5)
    assert Topology((-1, 0, 0, 1, 2)).heavy_path == (0, 1, 3, 2, 4)


@given(shapes(), st.integers(1, 12))
def test_blocks_are_counted_as_they_are_defined(shape, block):
    for order in (make(shape) for make in ORDERS.values()):
        assert count_blocks(shape, order, block) == counted(shape, order, block)
        pairs = block_pairs(shape, order, block)
        assert pairs.sum() == shape.ancestor_mask.sum() == (shape.depth + 1).sum()
        assert not np.triu(pairs, 1).any()  # parents first: nothing above the diagonal


@given(shapes(), st.integers(1, 12))
def test_where_subtrees_stay_together_only_the_first_node_of_a_row_of_blocks_looks_back(shape, block):
    for order in (ORDERS[name](shape) for name in BY_SUBTREES):
        place = {node: i for i, node in enumerate(order)}
        exact = 0
        for row, start in enumerate(range(0, len(shape), block)):
            above = {0, *shape.path(order[start])}
            exact += len({place[node] // block for node in above} | {row})
        assert count_blocks(shape, order, block) == exact


@given(shapes())
def test_a_path_falls_into_few_runs_in_heavy_path_order(shape):
    place = {node: i for i, node in enumerate(shape.heavy_path)}
    for node in range(len(shape)):
        places = [0, *(place[above] for above in shape.path(node))]
        runs = 1 + sum(later != earlier + 1 for earlier, later in itertools.pairwise(places))
        assert runs <= 1 + math.log2(len(shape))


@pytest.mark.parametrize("block", [1, 2, 3])
def test_all_small_trees_against_all_orders(block):
    worst = 0.0
    for shape in (shape for size in range(1, 6) for shape in every_tree(size)):
        least = fewest(shape, block)
        assert fewest_blocks(shape, block) <= least
        worst = max(worst, count_blocks(shape, shape.heavy_path, block) / least)
    assert worst == {1: 1.0, 2: 1.2, 3: 1.0}[block]


def test_heavy_path_order_is_near_optimal_but_not_always_the_best():
    """All 120 trees of six nodes in blocks of two, against all 720 orders."""
    trees = list(every_tree(6))
    least = [fewest(shape, 2) for shape in trees]
    counts = {name: [count_blocks(shape, order(shape), 2) for shape in trees] for name, order in ORDERS.items()}
    hits = {name: sum(a == b for a, b in zip(found, least, strict=True)) for name, found in counts.items()}
    assert (hits["heavy-path"], hits["depth-first"], hits["breadth-first"]) == (105, 84, 54)
    loses = sum(heavy > plain for heavy, plain in zip(counts["heavy-path"], counts["depth-first"], strict=True))
    assert loses == 7
    behind = [count_blocks(t, t.heavy_path, 2) - count_blocks(t, t.breadth_first, 2) for t in every_tree(5)]
    assert (max(behind), behind.count(1)) == (1, 1)


@given(shapes(), st.integers(1, 12))
def test_no_order_falls_below_the_bound(shape, block):
    bound = fewest_blocks(shape, block)
    assert all(bound <= count_blocks(shape, order(shape), block) for order in ORDERS.values())


def test_closed_forms_of_a_chain_and_a_star():
    """A chain fills the whole triangle in any order of parents first; a star only its first column and the diagonal."""
    chain, star = Topology((-1, *range(99))), Topology((-1, *[0] * 99))
    for order in (make for make in ORDERS.values()):
        assert count_blocks(chain, order(chain), 32) == 4 * 5 // 2 == fewest_blocks(chain, 32)
        assert count_blocks(star, order(star), 32) == 2 * 4 - 1 == fewest_blocks(star, 32)


@pytest.mark.parametrize(("size", "drawn", "reordered"), [(256, 36, 22.5), (512, 135.5, 52.8), (1024, 490.2, 119.3)])
def test_random_trees_have_the_block_counts_that_dyspec_prints(size, drawn, reordered):
    """Table 5 of DySpec, blocks of 32; the paper does not say what random trees they are."""
    trees = [random_tree(size, Seeded(seed)) for seed in range(12)]
    for name, printed in (("as drawn", drawn), ("depth-first", reordered)):
        mean = np.mean([count_blocks(tree, ORDERS[name](tree)) for tree in trees])
        assert mean == pytest.approx(printed, rel=0.05), name


@pytest.mark.parametrize("block", [0, -1, 2.0, "32", True])
def test_a_block_has_a_whole_size(block):
    with pytest.raises(ValueError, match="block must be a whole number from 1"):
        count_blocks(Topology((-1, 0)), (0, 1), block)


def test_the_figure_of_blocks_is_the_counts():
    trees = [Topology((-1, *range(size - 1))) for size in (4, 8)]
    info = plot.info(trees, 2)
    assert info.nodes == (4, 8) and info.triangle == info.fewest == info.counts["heavy-path"] == (3, 10)
    assert "as drawn" in info.counts and len(plot.draw(info).data) == 5
    assert not plot.draw(plot.info([])).data


def test_the_prefix_adds_full_columns_and_shifts_the_tree():
    shape = random_tree(70, Seeded(3))
    for prefix in (0, 5, 32, 100):
        for order in (ORDERS["as drawn"](shape), ORDERS["heavy-path"](shape)):
            whole = np.zeros((len(shape), prefix + len(shape)), bool)
            whole[:, :prefix] = True
            whole[:, prefix:] = shape.ancestor_mask[np.ix_(order, order)]
            rows, columns = (-(-n // 32) for n in whole.shape)
            blocks = [
                whole[32 * i : 32 * i + 32, 32 * j : 32 * j + 32].any() for i in range(rows) for j in range(columns)
            ]
            assert count_blocks(shape, order, 32, prefix) == sum(blocks)
    with pytest.raises(ValueError, match="prefix"):
        count_blocks(shape, ORDERS["as drawn"](shape), 32, -1)
