"""Passes over random rows, timed in turns: what is read, and in which order."""

import specviz
from specviz.benchmarks import alternating_rounds as batches
from specviz.benchmarks import alternating_rounds as paired
from specviz.randomness import Seeded
from specviz.tree import Topology


def test_passes_take_turns_and_the_first_is_not_counted(monkeypatch):
    order, clock = [], iter(range(100))
    monkeypatch.setattr(paired, "perf_counter", lambda: next(clock))

    def slow():
        order.append("slow")
        next(clock), next(clock)

    passes = {"fast": lambda: order.append("fast"), "slow": slow}
    found = list(batches.seconds_in_turns(passes, rounds=3))
    assert order == ["fast", "slow", "slow", "fast"] * 2
    assert found == [(0, 3, {})] + [(turn, 3, {"fast": 1, "slow": 3}) for turn in (1, 2, 3)]


def test_random_rows_have_the_shape_that_was_asked_for():
    pair = specviz.toy_pair(vocab=5)
    tree = batches.random_pass(pair.target, Seeded(1), 5, rows=2, before=3, tokens=Topology((-1, 0, 0, 1)))
    run = batches.random_pass(pair.draft, Seeded(1), 5, rows=3, before=3, tokens=2)
    assert tree().shape == (2, 4, 5) and run().shape == (3, 2, 5)
