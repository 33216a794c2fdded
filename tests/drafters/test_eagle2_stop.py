"""EAGLE-2's tree with SVIP's stop: it looks every two levels, at the best node's row."""

import math

import pytest
from growing import grow

import specviz
from specviz.distributions import entropy


@pytest.mark.parametrize("seed", range(8))
def test_it_stops_where_the_best_node_is_in_doubt_and_nowhere_else(seed):
    make = specviz.BUILDERS["eagle2"]
    whole, draft = grow(make(size=64, depth=6, width=2), seed=seed)
    assert whole.depths and max(whole.depths) == 6
    doubts = {}
    for depth in (2, 4):
        level = [node for node in range(len(draft.tree)) if draft.tree.depths[node] == depth]
        doubts[depth] = math.sqrt(entropy(draft.tree.draft_distributions[level[0]]))
    for h in (doubts[2] - 1e-6, doubts[2] + 1e-6, 3.0):
        tree, _ = grow(make(size=64, depth=6, width=2, h=h), seed=seed)
        wanted = next((depth for depth in (2, 4) if doubts[depth] > h), 6)
        assert max(tree.depths) == wanted
