"""What the page is sent of a run, as plain data."""

import json
from dataclasses import replace

import pytest

import specviz
from specviz import payload

CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


def test_a_step_is_sent_whole(trace):
    for step in trace.steps:
        sent = payload.step_payload(step, specviz.VERIFIERS["sequoia"]())
        n = len(step.parents)
        assert all(
            len(sent[name]) == n for name in ("parents", "texts", "q", "p", "plain", "outcome", "accept", "coin", "why")
        )
        assert sum(sent["outcome"].count(letter) for letter in "raxup") == n
        for node in range(n):
            assert sent["sentences"][sent["why"][node]] == specviz.VERIFIERS["sequoia"]().explain(step, node)
        assert len(sent["sentences"]) == len(set(sent["sentences"]))
        assert (sent["last"] is None) == (step.bonus is None)
    assert (
        "".join("".join(payload.step_payload(s, specviz.VERIFIERS["sequoia"]())["pieces"]) for s in trace.steps)
        == trace.text
    )


PAIRS = [
    (builder, verifier)
    for builder in specviz.BUILDERS.values()
    for verifier in specviz.VERIFIERS.values()
    if specviz.compatible(builder(), verifier(), 0.8).possible
]


@pytest.mark.parametrize(("builder", "verifier"), PAIRS, ids=lambda kind: kind.name)
def test_every_combination_can_be_shown(builder, verifier):
    config = replace(CONFIG, builder=builder(), verifier=verifier(), max_new_tokens=12)
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        sent = payload.step_payload(step, verifier())
        assert len(sent["outcome"]) == len(step.parents)
        assert all(text.endswith((".", "?")) and "None" not in text and "nan" not in text for text in sent["sentences"])
        json.dumps(sent, allow_nan=False)


@pytest.mark.parametrize(
    ("builder", "verifier", "kinds"),
    [("sequoia", "sequoia", {"tried", "after"}), ("k-ary", "spectr", {"tried", "after", "facts"}),
     ("sequoia", "race", {"race"}), ("sequoia", "typical", {"facts"}),
     ("sequoia", "traversal", {"tried", "after", "facts"}), ("chain", "block", {"after", "facts"}),
     ("sequoia", "target-match", {"after"})],
)  # fmt: skip
def test_what_a_rule_kept_is_sent_by_kind(builder, verifier, kinds):
    rule = specviz.VERIFIERS[verifier]()
    config = replace(CONFIG, builder=specviz.BUILDERS[builder](), verifier=rule)
    seen = set()
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        for node, facts in payload.step_payload(step, rule)["detail"].items():
            seen |= set(facts)
            kept = step.detail[node]
            assert facts.get("facts", {}).keys() == {name for name, value in kept.items() if isinstance(value, float)}
            if "tried" in facts:
                assert facts["tried"]["texts"] == kept["texts"] and step.tokens[int(node)] in facts["tried"]["tokens"]
            for name, racers in facts.get("race", {}).items():
                assert racers["rows"]["times"] == payload.rounded(kept["race"][name]["times"])
                assert racers["rows"]["times"] == sorted(racers["rows"]["times"])
    assert seen == kinds


@pytest.mark.parametrize(
    "facts",
    [1, [], {"tokens": [1]}, {"tokens": [1], "texts": ["a", "b"], "p": [0.1]}, {"tokens": ["<"], "texts": ["a"]},
     {"tokens": [1], "texts": [2], "p": [0.1]}, {"tokens": [1] * 99, "texts": ["a"] * 99, "p": [0.1] * 99},
     {"tokens": [1], "texts": ["a"], "p": ["0.1"]}, {"rho": True}, {"rho": "1"}, {"race": {"target": 3}}],
)  # fmt: skip
def test_a_detail_of_no_known_shape_is_left_out(facts):
    assert payload.detail_payload({"0": facts}) == {}


@pytest.mark.parametrize("builder", specviz.BUILDERS)
def test_the_growth_of_a_tree_is_sent(builder):
    config = replace(CONFIG, builder=specviz.BUILDERS[builder](), verifier=specviz.VERIFIERS["target-match"]())
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        sent = payload.growth_payload(step)
        assert sent.get("keys", [None] * len(step.parents)) == payload.rounded(list(step.keys))
        if len(step.parents) > 1:
            assert {"waiting", "split", "candidates", "length"} & sent.keys() == (
                {"waiting", "split", "candidates", "length"} & step.growth.keys()
            )


@pytest.mark.parametrize(
    "growth",
    [{"waiting": 3}, {"waiting": [[[99, 0.5]]] * 3}, {"waiting": [[["a", 0.5]]] * 3}, {"split": [1]}, {"split": "abc"},
     {"cut": {"texts": ["a"], "keys": [1]}}, {"cut": 1}, {"candidates": "many"}, {"length": True}],
)  # fmt: skip
def test_a_growth_of_no_known_shape_is_left_out(trace, growth):
    step = replace(trace.steps[0], growth=growth, keys=(None,) * len(trace.steps[0].parents))
    assert payload.growth_payload(step) == {}


def test_messages_cannot_be_mistaken_for_markup(trace):
    hostile = "</script><img src=x onerror=alert(1)>${alert(1)}{{alert(1)}}`"
    text = payload.message("run", [], head=payload.head(CONFIG, hostile, "pair"))
    assert "<" not in text
    assert json.loads(text)["head"]["prompt"] == hostile


def test_a_message_holds_no_number_that_json_lacks():
    with pytest.raises(ValueError):
        payload.message("run", [{"q": [float("nan")]}])


def test_decode_rate_leaves_out_the_step_that_reads_the_prompt(trace):
    slow = replace(trace.steps[0], seconds=replace(trace.steps[0].seconds, target=1000.0))
    assert payload.decode_rate([slow, *trace.steps[1:]]) == payload.decode_rate(trace.steps)
    assert payload.decode_rate(trace.steps[:1]) is None
