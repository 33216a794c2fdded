"""Costs of texts that share passes, the trees that follow, and where speculation stops paying."""

import pytest

import specviz
from specviz.planning.cost_table import flat_up_to, roofline
from specviz.planning.shared_passes import SharedBudget, best_trees, per_text, stops_paying, where_it_ends
from specviz.tree import Topology

CONFIG = specviz.RunConfig(verifier="sequoia", temperature=1.0)
VECTOR = (0.7, 0.15, 0.05)


def test_a_pass_over_many_trees_costs_what_one_over_all_their_nodes_costs():
    cost = roofline("a GPU", "assumed", pass_s=0.02, draft_s=0.002, overhead_s=0.001, flat=64)
    assert per_text(cost, 1) == cost
    eight = per_text(cost, 8)
    assert eight.plain_s == pytest.approx(0.02 / 8)
    assert eight.target(8) == pytest.approx(0.02 / 8) and eight.target(64) == pytest.approx(0.02 * 8 / 8)
    parts = eight.parts(Topology((-1, 0)))
    assert parts["draft"] == pytest.approx(0.002 / 8) and parts["overhead"] == pytest.approx(0.001)


def test_trees_shrink_with_the_number_of_texts_until_speculation_stops_paying():
    cost = flat_up_to(64, draft_cost=0.02)
    found = best_trees(VECTOR, cost, CONFIG, (1, 8, 32, 256))
    sizes = [one.predicted.size for one in found.values()]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1]
    speedups = [(texts, one.predicted.speedup) for texts, one in found.items()]
    assert speedups[0][1] > 2 and speedups[-1][1] < 1
    assert 32 < stops_paying(speedups) < 256


def test_the_end_is_on_a_line_between_the_two_counts_around_it():
    assert stops_paying([(1, 1.2), (2, 1.1)]) is None and stops_paying([]) is None
    assert stops_paying([(4, 0.9)]) == 4
    assert stops_paying([(1, 1.5), (4, 0.5)]) == pytest.approx(2)
    assert where_it_ends([(1, 1.5), (4, 0.5)]) == "stops paying at about 2 texts"
    assert where_it_ends([(1, 0.9), (4, 0.5)]) == "does not pay" and where_it_ends([(1, 2)]) == "pays at all of these"


def test_a_threshold_rises_where_too_many_nodes_were_drafted():
    budget = SharedBudget(nodes=32, texts=4)
    before = budget.threshold
    budget.spent(60)
    assert budget.threshold > before
    budget.spent(60), budget.spent(4), budget.spent(4)
    assert budget.threshold < before
