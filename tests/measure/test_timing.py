"""Interleaved timing: what is counted, in which order, and what the rounds say. No time is
asserted."""

from dataclasses import replace

import pytest

import specviz
from specviz.base.progress import Progress, final_result
from specviz.measure import timing
from specviz.measure.this_machine import measure_machine
from specviz.measure.timing import (
    AUTOREGRESSIVE,
    interleave,
    measure_speedup,
    steps_with_room,
    summarise,
    time_runs,
)
from specviz.record.metrics import Counts
from specviz.record.step import Timing

PAIR = specviz.toy_pair(vocab=8, seed=2, closeness=0.7)
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=40)
RUNS = {
    name: (PAIR, replace(CONFIG, builder=f"{name}=3")) for name in ("chain:depth", "batch:width")
}


def counts(tokens, seconds):
    """Of steps that wrote two tokens each; all of the time is the target's."""
    own = dict(tokens=tokens, passes=tokens // 2, timed_tokens=tokens, timed_passes=tokens // 2)
    return Counts(**own, seconds=(0.0, seconds, 0.0, 0.0))


def test_calls_take_turns_in_rotating_order():
    order = [
        (turn, name)
        for turn, name, _ in interleave({name: (lambda turn: turn) for name in "abc"}, 2)
    ]
    assert order == [(0, "a"), (0, "b"), (0, "c"), (1, "b"), (1, "c"), (1, "a")]


def test_speedup_is_tokens_over_time_against_plain_decoding():
    """Two texts by hand: 2 and 4 times plain, 3 together; each is left out once, and t is 12.7 for
    two."""
    plain = [counts(10, 10.0), counts(10, 10.0)]
    (row,) = summarise(
        {AUTOREGRESSIVE: plain, "chain": [counts(6, 3.0), counts(12, 3.0)]}, ["a", "b"]
    )
    assert (row.speedup, row.low, row.high) == pytest.approx((3, 2, 4))
    assert row.margin == pytest.approx(12.706, abs=1e-3) and row.tokens_margin == 0
    assert row.step_price == pytest.approx((6 / 9) / 2) and row.counts.tokens_per_pass == 2
    halves = [counts(6, 3.0), counts(6, 3.0), counts(12, 3.0), counts(12, 3.0)]
    (twice,) = summarise(
        {AUTOREGRESSIVE: plain + plain, "chain": halves}, ["a", "a", "b", "b"]
    )  # two rounds
    assert (twice.speedup, twice.margin) == pytest.approx((row.speedup, row.margin))
    assert summarise({AUTOREGRESSIVE: plain, "chain": halves}, ["a"])[0].margin is None


def test_only_whole_trees_after_the_first_step_count():
    trace = specviz.run(PAIR, replace(CONFIG, builder="chain:depth=3"))
    steps = steps_with_room(trace)
    assert {len(step.parents) for step in steps} == {4} and trace.steps[0] not in steps
    assert len(steps) < len(trace.steps) - 1  # the last ones had less room


def test_every_run_continues_every_prompt_in_rotating_order(monkeypatch):
    order, run = [], specviz.run
    monkeypatch.setattr(
        timing, "run", lambda pair, config: order.append(config) or run(pair, config)
    )
    updates = list(time_runs(RUNS, ["ab", "ba"], rounds=2))
    warm, timed = order[:3], order[3:]
    assert {config.max_new_tokens for config in warm} == {timing.WARM_UP}
    assert [(config.builder.name, config.prompt, config.seed) for config in timed[:6]] == [
        ("plain", "ab", 0),
        ("chain", "ab", 0),
        ("batch", "ab", 0),
        ("chain", "ba", 1),
        ("batch", "ba", 1),
        ("plain", "ba", 1),
    ]
    assert [config.prompt for config in timed[6::3]] == ["ba", "ab"], (
        "in the second round the prompts moved on"
    )
    assert [update.done for update in updates] == list(range(1, 13)) and updates[-1].total == 12
    assert [len(update.result) for update in updates] == [0, 0, *[2] * 10]
    assert [row.name for row in updates[-1].result] == list(RUNS)
    alone = specviz.run(PAIR, replace(CONFIG, prompt="ab", builder="chain:depth=3")).counts
    other = specviz.run(PAIR, replace(CONFIG, prompt="ba", builder="chain:depth=3", seed=1)).counts
    assert updates[-1].result[0].counts.tokens_per_pass == (alone + other).tokens_per_pass


def test_a_prompt_without_a_step_to_time_is_left_out():
    rows = {AUTOREGRESSIVE: [counts(4, 1.0), Counts()], "chain": [counts(4, 1.0), counts(4, 1.0)]}
    (row,) = summarise(rows, ["a", "b"])
    assert (
        row.counts == counts(4, 1.0) and summarise({name: [Counts()] for name in rows}, ["a"]) == ()
    )


def test_the_result_of_a_measurement_is_the_last_one():
    assert (
        final_result(Progress(done, 3, result=found) for done, found in enumerate((None, 4, 0), 1))
        == 0
    )
    for nothing in ([], [Progress(1, 1)]):
        with pytest.raises(ValueError, match="without a result"):
            final_result(nothing)


RUN = specviz.RunConfig("abc", "chain:depth=2", temperature=0.8, max_new_tokens=12, seed=3)
FIRST = Counts(tokens=12, passes=6, timed_tokens=12, timed_passes=6, seconds=(0.0, 24.0, 0.0, 0.0))


@pytest.fixture
def clocks(monkeypatch):
    """Steps that take planted times: of the run, and of plain decoding in each round."""
    order = []

    def set_up(run, plain):
        def speculate(pair, config):
            name = "plain" if config == config.autoregressive() else "run"
            spent = (plain if name == "plain" else run)(sum(one[0] == name for one in order))
            order.append((name, config.prompt, config.temperature, config.seed))
            for step in specviz.speculate(pair, config):
                yield replace(step, seconds=Timing(target=spent * len(step.emitted)))

        monkeypatch.setattr(timing, "speculate", speculate)
        return order

    return set_up


def test_a_run_and_plain_decoding_take_turns_and_the_rounds_spread(clocks):
    order = clocks(run=lambda turn: (1.0, 2.0)[turn], plain=lambda turn: (3.0, 4.0, 4.0)[turn])
    updates = list(measure_speedup(specviz.toy_pair(vocab=12), RUN, FIRST, 3))
    found = [one for one in updates if one is not None]
    assert [one[0] for one in order] == ["plain", "plain", "run", "run", "plain"], (
        "the first run is there already"
    )
    assert {one[1:] for one in order} == {("abc", 0.8, 3)}, "the same prompt, temperature and seed"
    assert [one.rounds for one in found] == [1, 2, 3] and None in updates
    assert found[0].speedup == found[0].low == found[0].high == pytest.approx((12 / 24) * 3)
    assert found[2].low < found[2].speedup < found[2].high
    assert found[2].speedup == pytest.approx(found[2].tokens_per_s / found[2].plain_tokens_per_s)
    assert list(measure_speedup(PAIR, RUN, Counts(), 3)) == [], "a run of one step has no speed"


def test_a_slow_machine_is_timed_for_a_few_tokens(clocks):
    clocks(run=lambda turn: 1.0, plain=lambda turn: 1.0)
    steps = sum(
        one is None for one in measure_speedup(PAIR, replace(RUN, max_new_tokens=200), FIRST, 1)
    )
    assert timing.FEWEST <= steps <= timing.FEWEST + 2


@pytest.mark.parametrize("temperature", [0.0, 0.8])
def test_costs_come_first_then_predicted_and_timed_trees(temperature):
    pair = specviz.toy_pair(vocab=20, seed=1)
    updates = list(measure_machine(pair, temperature, sizes=(2, 8), rounds=2, seconds=5))
    assert updates[0].result is None and updates[-1].done == updates[-1].total
    last = updates[-1].result
    assert [point.size for point in last.points] == [2, 8]
    for point in last.points:
        # The speedup is a ratio of sums, so it may lie outside of those of single texts.
        assert 0 < point.low <= point.high and point.measured > 0
        assert 0 < point.predicted <= point.size
    assert {update.stage for update in updates} == {"measuring costs", "timing trees"}
    # Whoever stops early has no costs that later rounds would change.
    early = next(update.result for update in updates if update.result)
    assert early.cost == last.cost and not early.points
