"""What the page is sent of a run, as plain data."""

import json
from dataclasses import replace

import pytest

import specviz
from specviz.base import codec
from specviz.view import payload, step_payload
from specviz.view.payload import described
from tests.growing import BUILDERS

CONFIG = specviz.RunConfig(prompt="abc", max_new_tokens=30)


@pytest.fixture(scope="module")
def trace():
    return specviz.run(specviz.toy_pair(vocab=12), CONFIG)


def test_a_step_is_sent_whole(trace):
    for step in trace.steps:
        sent = step_payload.step_payload(step, specviz.VERIFIERS["sequoia"]())
        n = len(step.parents)
        assert all(
            len(sent[name]) == n
            for name in ("parents", "texts", "q", "p", "outcome", "accept", "coin", "why")
        )
        assert sent["outcome"] == list(step.outcome)
        for node in range(n):
            sentence = specviz.VERIFIERS["sequoia"]().explain(step, node)
            # Behind it stands what the best rule would have accepted.
            assert sent["sentences"][sent["why"][node]].startswith(sentence)
        assert len(sent["sentences"]) == len(set(sent["sentences"]))
        assert (sent["last"] is None) == (step.bonus is None)
    assert (
        "".join(
            "".join(step_payload.step_payload(s, specviz.VERIFIERS["sequoia"]())["pieces"])
            for s in trace.steps
        )
        == trace.text
    )


PAIRS = [
    (builder, verifier)
    for builder in specviz.BUILDERS.values()
    for verifier in specviz.VERIFIERS.values()
    if specviz.compatible(specviz.RunConfig("abc", builder(), verifier(), 0.8)).possible
]


@pytest.mark.parametrize(("builder", "verifier"), PAIRS, ids=lambda kind: kind.name)
def test_every_combination_can_be_shown(builder, verifier):
    config = replace(CONFIG, builder=builder(), verifier=verifier(), max_new_tokens=12)
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        sent = step_payload.step_payload(step, verifier())
        assert len(sent["outcome"]) == len(step.parents)
        assert all(
            text.endswith((".", "?")) and "None" not in text and "nan" not in text
            for text in sent["sentences"]
        )
        json.dumps(sent, allow_nan=False)


@pytest.mark.parametrize(
    ("builder", "verifier", "kinds"),
    [
        ("sequoia", "sequoia", {"tried", "after", "facts"}),
        ("k-ary", "spectr", {"tried", "after", "facts"}),
        ("sequoia", "race", {"race"}),
        ("sequoia", "typical", {"facts"}),
        ("sequoia", "traversal", {"tried", "after", "facts"}),
        ("chain", "block", {"after", "facts"}),
        ("sequoia", "target-match", {"after", "facts"}),
    ],
)
def test_what_a_rule_kept_is_sent_by_kind(builder, verifier, kinds):
    rule = specviz.VERIFIERS[verifier]()
    config = replace(CONFIG, builder=specviz.BUILDERS[builder](), verifier=rule)
    seen = set()
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        for node, facts in step_payload.step_payload(step, rule)["detail"].items():
            seen |= set(facts)
            kept = step.detail[int(node)]
            assert facts.get("facts", {}).keys() == kept.facts.keys()
            if "tried" in facts:
                assert (
                    facts["tried"]["texts"] == list(kept.tried.texts)
                    and step.tokens[int(node)] in facts["tried"]["tokens"]
                )
            for name, racers in facts.get("race", {}).items():
                assert racers["rows"]["times"] == codec.json_data(
                    list(kept.race[name].rows["times"])
                )
                assert racers["rows"]["times"] == sorted(racers["rows"]["times"])
    assert seen == kinds


@pytest.mark.parametrize("builder", BUILDERS)
def test_the_growth_of_a_tree_is_sent(builder):
    config = replace(
        CONFIG, builder=specviz.BUILDERS[builder](), verifier=specviz.VERIFIERS["target-match"]()
    )
    for step in specviz.speculate(specviz.toy_pair(vocab=12), config):
        sent = codec.json_data(step_payload.growth_payload(step))
        assert sent.get("keys", [None] * len(step.parents)) == codec.json_data(list(step.keys))
        if len(step.parents) > 1:
            for name in ("waiting", "split", "candidates", "length"):
                assert (name in sent) == (getattr(step.growth, name) is not None)


def test_messages_cannot_be_mistaken_for_markup(trace):
    hostile = "</script><img src=x onerror=alert(1)>${alert(1)}{{alert(1)}}`"
    text = payload.message(
        "run", [], head=payload.head(CONFIG, replace(trace, prompt_text=hostile))
    )
    assert "<" not in text
    assert json.loads(text)["head"]["prompt"] == hostile


def test_a_message_holds_no_number_that_json_lacks():
    with pytest.raises(ValueError):
        payload.message("run", [{"q": [float("nan")]}])


def test_whose_guess_a_node_was_is_said_where_not_every_node_would_say_the_same():
    drafters = specviz.DRAFTERS
    some = drafters["several"](drafters=("model", "medusa", "eagle"))
    for drafter, wanted in (
        (drafters["model"](), {None}),
        (some, {"the draft model", "Medusa heads", "EAGLE"}),
        (drafters["cascade"](), {"the draft model", "n-grams"}),
        (drafters["retrieval"](), {"retrieval"}),
        (drafters["eagle"](), {None}),
        (drafters["block"](), {None}),
    ):
        found = set()
        for step in specviz.speculate(specviz.toy_pair(vocab=12), replace(CONFIG, drafter=drafter)):
            sent = step_payload.step_payload(step, CONFIG.verifier)
            for node in range(1, len(step.parents)):
                sentence = sent["sentences"][sent["why"][node]]
                said = "".join(sentence.partition("Drafted by")[1:])
                if step.drafter[node] in ("ngram", "retrieval"):
                    assert ": seen " in said and ("for instance in" in said) == (
                        step.drafter[node] == "retrieval"
                    )
                names = [
                    title for title in wanted - {None} if said.startswith(f"Drafted by {title}")
                ]
                found.add(names[0] if names else said or None)
        if (
            len(wanted) > 1
        ):  # of a tree so shallow that the draft model alone filled it nothing is said
            found.discard(None)
        assert found == wanted


def test_a_pair_with_two_vocabularies_says_how_much_is_common():
    assert (
        described({"name": "a + b"})
        == "a + b, weights in memory"
        == described({"name": "a + b", "common": {"mass": "<b>"}})
    )
    common = {"tokens": 281, "mass": 0.7201}
    assert described({"name": "a + b", "common": common}) == (
        "a + b, whose common tokens have 72.0% of the target's probability, weights in memory"
    )
    assert described({"name": "a", "disk_speed": 1.6e9}).endswith("on disk, read at 1.6 GB/s")
