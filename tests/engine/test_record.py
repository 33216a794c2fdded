"""Traces: round trip, and every kind of damage answered by a sentence."""

import json
import pickle

import numpy as np
import pytest

import specviz
from specviz.base import codec
from specviz.base.files import TRACES
from specviz.record.metrics import Counts

FORMER_NAMES = {"pieces": "emitted_texts", "target_prob_plain": "target_prob_at_1"}


@pytest.fixture(scope="module")
def trace():
    config = specviz.RunConfig(
        "abc", specviz.BUILDERS["k-ary"](), temperature=0.7, top_p=0.9, max_new_tokens=20
    )
    return specviz.run(specviz.toy_pair(vocab=5), config)


def test_a_trace_survives_the_round_trip(trace):
    text = trace.to_json()
    again = specviz.Trace.from_json(text)
    assert again.to_json() == text
    assert (
        again.text == trace.text
        and again.tokens == trace.tokens
        and again.acceptance == trace.acceptance
    )
    assert any(step.detail for step in trace.steps)
    for step, other in zip(trace.steps, again.steps, strict=True):
        assert other.to_json() == step.to_json() and other.detail.keys() == step.detail.keys()


@pytest.mark.parametrize("drafter", ["model", "ngram", "several"])
def test_a_step_can_be_counted_and_sent_to_another_process(drafter):
    config = specviz.RunConfig(
        "abc", "sequoia:size=8", temperature=0.7, max_new_tokens=30, drafter=drafter
    )
    steps = list(specviz.speculate(specviz.toy_pair(vocab=20), config))
    assert Counts.of(steps).tokens == 30
    assert pickle.loads(pickle.dumps(steps[0])) == steps[0]


@pytest.mark.parametrize("rule", ["sequoia", "traversal", "target-match"])
def test_a_step_holds_the_order_of_tries(rule):
    config = specviz.RunConfig("abc", "k-ary:width=2,depth=3", rule, max_new_tokens=40)
    for step in specviz.speculate(specviz.toy_pair(vocab=5), config):
        tried = {node for node, coin in enumerate(step.coin) if coin is not None}
        assert tried <= set(step.order) and len(set(step.order)) == len(step.order)
        place = {node: turn for turn, node in enumerate(step.order)}
        for node, parent in enumerate(step.parents):
            if node in place and parent in place:
                assert (place[node] < place[parent]) == (rule == "traversal")


@pytest.mark.parametrize(
    "path",
    [one for one in sorted(TRACES.rglob("*.json")) if one.stem != "cost"],
    ids=lambda path: path.stem,
)
def test_a_shipped_trace_is_saved_as_it_was_opened(path):
    data = json.loads(path.read_text("utf-8"))
    trace = specviz.Trace.from_json(json.dumps(data))
    again = json.loads(trace.to_json())
    for step in data["steps"]:
        for former, name in FORMER_NAMES.items():
            if former in step:
                step[name] = step.pop(former)
    assert again | {"config": None} == data | {"config": None}
    assert specviz.Trace.from_json(trace.to_json()).config == trace.config


def test_a_number_that_json_lacks_is_null_and_the_others_have_six_digits():
    rows = {
        "rate": [float("nan"), -float("inf"), 0.123456789, np.float64(2 / 3), 10**9],
        "of": np.ones(2),
    }
    assert codec.json_data(rows) == {
        "rate": [None, None, 0.123457, 0.666667, 10**9],
        "of": [1.0, 1.0],
    }
    assert codec.json_data([0.123456789], all_digits=True) == [0.123456789]
    assert json.loads(codec.pretty_json([{"speedup": float("nan")}])) == [{"speedup": None}]


def test_a_step_of_33_nodes_takes_about_five_kilobytes():
    config = specviz.RunConfig(
        "abc", specviz.BUILDERS["sequoia"](size=33), temperature=0.7, max_new_tokens=60
    )
    run = specviz.run(specviz.toy_pair(vocab=40), config)
    assert len(run.to_json()) / len(run.steps) < 7000


def test_a_record_that_does_not_say_who_drafted_is_saved_as_one(trace):
    data = json.loads(trace.to_json())
    del data["config"]["drafter"]
    for step in data["steps"]:
        del step["drafter"]
    old = specviz.Trace.from_json(json.dumps(data))
    assert old.config.drafter.name == "model" and old.steps[0].drafter == ()
    assert specviz.Trace.from_json(old.to_json()) == old


def test_a_record_with_former_names_is_read_and_saved_with_those_of_today(trace):
    data = json.loads(trace.to_json())
    for step in data["steps"]:
        for former, name in FORMER_NAMES.items():
            step[former] = step.pop(name)
    assert specviz.Trace.from_json(json.dumps(data)).to_json() == trace.to_json()
