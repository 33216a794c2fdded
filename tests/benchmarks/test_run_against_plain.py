"""A run against plain decoding in turns: what is counted, in which order, and what the rounds say."""

import json
from dataclasses import replace

import pytest
from specviz.benchmarks.trials import in_turns

import specviz
from specviz.benchmarks import trials as module
from specviz.metrics import Counts
from specviz.record import Timing

CONFIG = specviz.RunConfig("abc", specviz.BUILDERS["chain"](depth=2), temperature=0.8, max_new_tokens=12, seed=3)


def ran(tokens, seconds):
    """A run that wrote so many tokens in so many seconds after its first step."""
    return Counts(timed_tokens=tokens, seconds=(0.0, seconds, 0.0, 0.0))


@pytest.fixture
def clocks(monkeypatch):
    """Steps that take as long as is said: of the run, and of plain decoding in each round."""
    order = []

    def set_up(run, plain):
        def timed(pair, config):
            name = "plain" if config == config.autoregressive() else "run"
            spent = (plain if name == "plain" else run)(sum(one[0] == name for one in order))
            order.append((name, config.prompt, config.temperature, config.seed))
            for step in specviz.speculate(pair, config):
                yield replace(step, seconds=Timing(target=spent * len(step.emitted)))

        monkeypatch.setattr(module, "speculate", timed)
        return order

    return set_up


def test_both_take_turns_and_the_rounds_spread(clocks):
    order = clocks(run=lambda turn: (1.0, 2.0)[turn], plain=lambda turn: (3.0, 4.0, 4.0)[turn])
    news = list(in_turns(specviz.toy_pair(vocab=12), CONFIG, ran(12, 24.0), 3))
    found = [one for one in news if one is not None]
    assert [one[0] for one in order] == ["plain", "plain", "run", "run", "plain"], "the first run is there already"
    assert {one[1:] for one in order} == {("abc", 0.8, 3)}, "the same prompt, temperature and seed"
    assert [one.rounds for one in found] == [1, 2, 3] and None in news
    assert found[0].speedup == found[0].low == found[0].high == pytest.approx((12 / 24) * 3)
    assert (found[2].low, found[2].high) == (pytest.approx(1.5), pytest.approx(4.0))
    assert found[2].low < found[2].speedup < found[2].high
    assert found[2].speedup == pytest.approx(found[2].tokens_per_s / found[2].plain_tokens_per_s)


def test_a_run_of_one_step_has_no_speed():
    assert list(in_turns(specviz.toy_pair(vocab=12), CONFIG, ran(0, 0.0))) == []


def test_a_slow_machine_is_not_kept_for_long(clocks):
    clocks(run=lambda turn: 1.0, plain=lambda turn: 1.0)
    pair, long = specviz.toy_pair(vocab=12), replace(CONFIG, max_new_tokens=200)
    steps = sum(news is None for news in in_turns(pair, long, ran(30, 30.0), 1))
    assert module.FEWEST <= steps <= module.FEWEST + 2


def test_the_endpoint_returns_it():
    from app.api import answers
    from app.machine.engine import Engine

    *_, (text, step, trace) = answers(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG, rounds=2)
    found = json.loads(trace)["speedup"]
    assert text and not step and found["rounds"] == 2 and 0 < found["low"] <= found["speedup"] <= found["high"]
    assert specviz.Trace.from_json(trace).text == text
    *_, (_, _, bare) = answers(Engine(lambda: specviz.toy_pair(vocab=12)), CONFIG)
    assert "speedup" not in json.loads(bare)
