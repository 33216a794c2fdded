"""Passes over random rows, timed in turns: what is read, and in which order."""

from specviz.benchmarks import alternating_rounds as batches
from specviz.benchmarks import alternating_rounds as paired


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
