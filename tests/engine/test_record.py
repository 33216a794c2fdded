"""Traces: round trip, and every kind of damage answered by a sentence."""

import json
import pickle

import numpy as np
import pytest

import specviz
from specviz import codec
from specviz.decode import decode
from specviz.files import TRACES
from specviz.metrics import Counts
from specviz.session import record


@pytest.fixture(scope="module")
def trace():
    config = specviz.RunConfig("abc", specviz.BUILDERS["k-ary"](), temperature=0.7, top_p=0.9, max_new_tokens=20)
    return specviz.run(specviz.toy_pair(vocab=5), config)


def test_a_trace_survives_the_round_trip(trace):
    text = trace.to_json()
    again = specviz.Trace.from_json(text)
    assert again.to_json() == text
    assert again.text == trace.text and again.tokens == trace.tokens and again.acceptance == trace.acceptance
    assert [step.outcome for step in again.steps] == [step.outcome for step in trace.steps]


@pytest.mark.parametrize("drafter", ["model", "ngram", "several"])
def test_the_loop_counts_without_records_and_a_record_may_be_made_later(drafter):
    config = specviz.RunConfig("abc", "sequoia:size=8", temperature=0.7, max_new_tokens=30, drafter=drafter)
    pair = specviz.toy_pair(vocab=20)
    steps = list(specviz.speculate(pair, config))
    results = list(decode(pair, config))
    later = [record(result, pair.piece) for result in results]
    assert [step.to_dict() | {"seconds": None} for step in later] == [
        step.to_dict() | {"seconds": None} for step in steps
    ]
    counts, records = Counts.of(results), Counts.of(later)
    assert counts == records and counts.tokens == 30
    assert pickle.loads(pickle.dumps(steps[0])) == steps[0]


@pytest.mark.parametrize("path", sorted(TRACES.rglob("*.json")), ids=lambda path: path.stem)
def test_a_shipped_trace_is_saved_as_it_was_opened(path):
    data = json.loads(path.read_text("utf-8"))
    trace = specviz.Trace.from_json(json.dumps(data))
    again = json.loads(trace.to_json())
    assert again | {"config": None} == data | {"config": None}
    assert specviz.Trace.from_json(trace.to_json()).config == trace.config


def test_a_number_that_json_lacks_is_null_and_the_others_have_six_digits():
    rows = {"rate": [float("nan"), -float("inf"), 0.123456789, np.float64(2 / 3), 10**9], "of": np.ones(2)}
    assert codec.plain(rows) == {"rate": [None, None, 0.123457, 0.666667, 10**9], "of": [1.0, 1.0]}
    assert codec.plain([0.123456789], exact=True) == [0.123456789]
    assert json.loads(codec.lines([{"speedup": float("nan")}])) == [{"speedup": None}]


def test_a_trace_read_back_can_be_run_again(trace):
    again = specviz.Trace.from_json(trace.to_json())
    assert specviz.run(specviz.toy_pair(vocab=5), again.config).text == trace.text


def test_prompts_may_be_token_ids(trace):
    config = specviz.RunConfig([0, 1, 2], specviz.BUILDERS["chain"](), max_new_tokens=4)
    run = specviz.run(specviz.toy_pair(), config)
    assert specviz.Trace.from_json(run.to_json()).config.prompt == (0, 1, 2)
    assert run.prompt_text == "abc"


def test_a_step_of_33_nodes_takes_about_five_kilobytes():
    config = specviz.RunConfig("abc", specviz.BUILDERS["sequoia"](size=33), temperature=0.7, max_new_tokens=60)
    run = specviz.run(specviz.toy_pair(vocab=40), config)
    assert len(run.to_json()) / len(run.steps) < 7000


def damage(path, value):
    def change(data):
        *keys, last = path
        for key in keys:
            data = data[key]
        data[last] = value

    return change


DAMAGES = {
    "steps as text": damage(["steps"], "none"),
    "a parent after its child": damage(["steps", 0, "parents", 1], 3),
    "a second root": damage(["steps", 0, "outcome", 1], "root"),
    "an unknown outcome": damage(["steps", 0, "outcome", 1], "<script>"),
    "a column cut short": damage(["steps", 0, "tokens"], [1, 2]),
    "a negative token": damage(["steps", 0, "tokens", 1], -4),
    "a text that is a number": damage(["steps", 0, "texts", 1], 12),
    "a probability of two": damage(["steps", 0, "draft_prob", 1], 2),
    "seconds below zero": damage(["steps", 0, "seconds", "draft"], -1),
    "true as a number": damage(["steps", 0, "start"], True),
    "an enormous text": damage(["steps", 0, "texts", 1], "x" * 300_000),
    "a builder without a name": damage(["config", "builder"], {"parameters": {}}),
    "a bad temperature": damage(["config", "temperature"], -1),
    "an empty prompt": damage(["config", "prompt"], ""),
    "a later schema": damage(["schema"], 99),
    "a detail of no node": damage(["steps", 0, "detail"], {"99": {}}),
    "a detail whose texts are missing": damage(["steps", 0, "detail"], {"0": {"tried": {"tokens": [1], "rows": {}}}}),
    "a row that is too short": damage(
        ["steps", 0, "detail"], {"0": {"after": {"tokens": [1, 2], "texts": ["a", "b"], "rows": {"p": [0.1]}}}}
    ),
    "a fact that is text": damage(["steps", 0, "detail"], {"0": {"facts": {"rho": "1"}}}),
    "a race of numbers": damage(["steps", 0, "detail"], {"0": {"race": {"target": 3}}}),
    "slots that wait below no node": damage(["steps", 0, "growth"], {"waiting": [[[9999, 0.5]]]}),
    "slots without a key": damage(["steps", 0, "growth"], {"waiting": [[[0]]]}),
    "a split of too few nodes": damage(["steps", 0, "growth"], {"split": []}),
    "a length that is true": damage(["steps", 0, "growth"], {"length": True}),
    "a cut without keys": damage(["steps", 0, "growth"], {"cut": {"tokens": [1], "texts": ["a"], "rows": {}}}),
    "a detail under a key of 5 000 digits": damage(["steps", 0, "detail"], {"9" * 5000: {}}),
    "a guess under a key of 5 000 digits": damage(["steps", 0, "growth"], {"guesses": {"9" * 5000: {}}}),
    "a guess under a digit of no number": damage(["steps", 0, "growth"], {"guesses": {"\u00b2": {}}}),
    "a deep detail": damage(["steps", 0, "detail"], {"a": [[[[[[[[[[1]]]]]]]]]]}),
}


@pytest.mark.parametrize("change", DAMAGES.values(), ids=DAMAGES.keys())
def test_damage_is_answered_by_a_sentence(trace, change):
    data = json.loads(trace.to_json())
    change(data)
    with pytest.raises(ValueError, match=r"(trace is damaged|trace has schema|prompt must|temperature must)"):
        specviz.Trace.from_json(json.dumps(data))


@pytest.mark.parametrize("digits", [400, 5000])
def test_a_number_of_many_digits_is_answered_by_a_sentence(trace, digits):
    text = trace.to_json().replace('"start":', f'"start":{"9" * digits},"before":', 1)
    with pytest.raises(ValueError, match=r"start must be a whole number from 0 to \d+; got (99|inf)"):
        specviz.Trace.from_json(text)


def test_a_record_that_does_not_say_who_drafted_is_saved_as_one(trace):
    data = json.loads(trace.to_json())
    for step in data["steps"]:
        del step["drafter"]
    old = specviz.Trace.from_json(json.dumps(data))
    assert old.steps[0].drafter == () and specviz.Trace.from_json(old.to_json()) == old


@pytest.mark.parametrize("text", ["", "{}", "[]", "null", "{", "[" * 100_000, '{"schema": NaN}', "\x00"])
def test_what_is_no_trace_at_all_is_answered_by_a_sentence(text):
    with pytest.raises(ValueError, match=r"(?i)trace|Not a specviz run"):
        specviz.Trace.from_json(text)


@pytest.mark.parametrize("field", ["config", "pair", "prompt_tokens", "steps", "stop"])
def test_a_missing_field_is_named(trace, field):
    data = json.loads(trace.to_json())
    del data[field]
    with pytest.raises(ValueError, match=field):
        specviz.Trace.from_json(json.dumps(data))


@pytest.mark.parametrize(
    ("name", "values"),
    [("prompt", {"prompt": ""}), ("max_new_tokens", {"max_new_tokens": 0}), ("seed", {"seed": -1}),
     ("max_new_tokens", {"max_new_tokens": 2.5}), ("draft_temperature", {"draft_temperature": -1}),
     ("temperature", {"temperature": float("nan")}), ("top_p", {"top_p": 2})],
)  # fmt: skip
def test_a_bad_configuration_names_the_parameter(name, values):
    with pytest.raises(ValueError, match=f"^{name}"):
        specviz.RunConfig(**values)


def test_what_was_recorded_comes_back_with_its_names(trace):
    read = specviz.Trace.from_json(trace.to_json())
    assert any(step.detail for step in trace.steps)
    for step, again in zip(trace.steps, read.steps, strict=True):
        assert again.to_json() == step.to_json()
        assert again.detail.keys() == step.detail.keys()
        assert all(again.detail[node].tried is None or again.detail[node].tried.texts for node in again.detail)
