"""Measuring this machine for the page: costs, then predicted and timed trees."""

import pytest

import specviz
from specviz.benchmarks.this_machine import measure_machine


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_costs_come_first_then_predicted_and_timed_trees(temperature):
    pair = specviz.toy_pair(vocab=20, seed=1)
    updates = list(measure_machine(pair, temperature, sizes=(2, 8), rounds=2, seconds=5))
    assert updates[0].result is None and updates[-1].done == updates[-1].total
    last = updates[-1].result
    assert [point.size for point in last.points] == [2, 8]
    for point in last.points:
        assert 0 < point.low <= point.measured <= point.high and 0 < point.predicted <= point.size
    assert {update.stage for update in updates} == {"measuring costs", "timing trees"}
