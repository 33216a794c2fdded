"""What a verdict tells the person who asks why: sentences that are true, details that are plain and
right."""

import json
import re
from functools import cache

import pytest

import specviz
from specviz.decode import speculate
from specviz.record.step import BEST
from tests.growing import BUILDERS, VERIFIERS


@cache  # several tests look at them
def steps_of(verifier):
    """The steps of six runs, each with its rule."""
    rule = VERIFIERS[verifier]()
    tree = BUILDERS["sequoia"](size=14, acceptance=(0.5, 0.3, 0.2))
    shapes = {"gbv": BUILDERS["k-sequences"](3, 5), "fly": BUILDERS["chain"](depth=9)}
    builder = BUILDERS["chain"](depth=5) if rule.chain_only else tree
    builder = shapes.get(verifier, builder)
    temperature = 0.0 if rule.greedy_only else 1.0
    steps = []
    for seed in range(6):
        pair = specviz.toy_pair(vocab=7, seed=seed, closeness=0.5)
        config = specviz.RunConfig("ab", builder, rule, temperature, max_new_tokens=40, seed=seed)
        steps += [(rule, step) for step in speculate(pair, config)]
    return steps


OPENINGS = {
    "root": "The last committed token",
    "accepted": "Accepted",
    "rejected": "Rejected",
    "unreached": "Not visited",
    "passed": "Passed over",
}


@pytest.mark.parametrize("verifier", VERIFIERS)
def test_every_outcome_has_a_sentence_and_a_detail_that_is_plain_data(verifier):
    for rule, step in steps_of(verifier):
        assert json.loads(step.to_json())["detail"].keys() == {str(node) for node in step.detail}
        assert set(step.detail) <= set(range(len(step.parents)))
        for node, outcome in enumerate(step.outcome):
            sentence = rule.explain(step, node)
            assert sentence.startswith(OPENINGS[outcome]) and sentence.endswith("."), sentence


def tells_the_truth(step, node, sentence):
    prob, coin = step.accept_prob[node], step.coin[node]
    return {
        " < ": coin is not None and coin < prob,
        " ≥ ": coin is not None and coin >= prob,
        "without a test": coin is None and step.outcome[node] == "accepted",
    }


@pytest.mark.parametrize("verifier", [name for name, rule in VERIFIERS.items() if rule.reads_draft])
def test_sentences_about_coins_are_true(verifier):
    seen = set()
    for rule, step in steps_of(verifier):
        for node, outcome in enumerate(step.outcome):
            sentence = rule.explain(step, node)
            if outcome in ("accepted", "rejected"):
                assert "residual" not in sentence or node > step.parents.index(
                    step.parents[node]
                ), sentence
                phrases = [
                    phrase for phrase in tells_the_truth(step, node, sentence) if phrase in sentence
                ]
                assert phrases and all(
                    tells_the_truth(step, node, sentence)[phrase] for phrase in phrases
                ), sentence
                seen.add((outcome, phrases[0]))
    assert {("accepted", " < "), ("rejected", " ≥ ")} <= seen
    # Only these accept a token whose own coin failed, or that had none, and they say so.
    assert (("accepted", " ≥ ") in seen) == (verifier in ("block", "gbv", "fly"))
    assert (("accepted", "without a test") in seen) == VERIFIERS[verifier].leaves_first


def test_dyspec_says_that_it_stops_where_the_draft_is_used_up():
    pair = specviz.toy_pair(vocab=4, seed=0, closeness=0.0)
    config = specviz.RunConfig(
        "ab", BUILDERS["batch"](width=4), VERIFIERS["dyspec"](), 1.0, top_k=2, max_new_tokens=60
    )
    sentences = {
        VERIFIERS["dyspec"]().explain(step, node)
        for step in speculate(pair, config)
        if not step.path
        for node in (3, 4)
        if len(step.parents) == 5
    }
    assert len(sentences) == 1 and "draft probability above 0" in sentences.pop()


def test_residuals_are_those_before_each_try():
    rejected = 0
    for _, step in steps_of("specinfer"):
        for node in range(1, len(step.parents)):
            if step.outcome[node] not in ("accepted", "rejected"):
                continue
            chart, first = step.detail[node].tried, step.parents.index(step.parents[node])
            bars, here = chart.rows, chart.tokens.index(step.tokens[node])
            assert bars["p"][here] == pytest.approx(step.target_prob[node])
            assert bars["draft"][here] == pytest.approx(step.draft_prob[node])
            assert chart.texts[here] == step.texts[node]
            assert step.accept_prob[node] == pytest.approx(
                min(1, bars["residual"][here] / bars["draft"][here])
                if bars["residual"][here]
                else 0
            )
            if node == first:
                assert bars["residual"] == bars["p"]
            else:
                rejected += 1
    assert rejected > 10


@pytest.mark.parametrize("verifier", ["sequoia", "specinfer", "spectr", "traversal"])
def test_what_a_token_was_drawn_from_shows_that_token_and_the_one_rejected_last(verifier):
    corrected = 0
    pair = specviz.toy_pair(vocab=64, closeness=0.3)  # more tokens than bars
    config = specviz.RunConfig(
        "ab", BUILDERS["k-sequences"](2, 3), VERIFIERS[verifier](), 1.0, max_new_tokens=60
    )
    for step in speculate(pair, config):
        end = step.path[-1] if step.path else 0
        if end in step.detail and (chart := step.detail[end].after):
            tried = [
                n
                for n, above in enumerate(step.parents)
                if above == end and step.coin[n] is not None
            ]
            assert {step.emitted[-1], step.tokens[tried[-1]]} <= set(chart.tokens) and len(
                chart.tokens
            ) <= 6
            assert chart.rows["residual"][chart.tokens.index(step.emitted[-1])] > 0
            corrected += 1
    assert corrected > 3


def test_the_race_shows_who_arrives_when():
    for _, step in steps_of("race"):
        for node in (0, *step.path):
            race = step.detail[node].race["target"]
            assert list(race.rows["times"]) == sorted(race.rows["times"])
            following = [child for child in step.path if step.parents[child] == node]
            winner = step.tokens[following[0]] if following else step.bonus
            assert winner is None or race.tokens[0] == winner


@pytest.mark.parametrize(
    "verifier", ["speculative-sampling", "target-match", "sequoia", "specinfer"]
)
def test_a_rejected_token_comes_with_the_best_possible(verifier):
    """What no rule can accept more of, at a node whose children were all rejected."""
    seen = 0
    for _, step in steps_of(verifier):
        last = (0, *step.path)[-1]
        children = [node for node, parent in enumerate(step.parents) if parent == last]
        if not children:
            continue
        best = step.detail[last].facts[BEST]
        assert 0 <= best <= 1
        if verifier == "target-match":  # the children are given, and so is their mass
            assert best == pytest.approx(sum(step.target_prob[node] for node in children))
        elif verifier == "speculative-sampling":  # one draw: 1 - TV
            tried = step.detail[children[0]].tried
            p, q = tried.rows["residual"], tried.rows["draft"]
            assert best == pytest.approx(sum(map(min, p, q)))
        seen += 1
    assert seen > 10


def test_no_quotient_above_one_is_called_a_minimum_with_one():
    quotients = 0
    for rule, step in steps_of("sequoia"):
        for node in range(1, len(step.parents)):
            sentence = rule.explain(step, node)
            for value, more in re.findall(r" [=≈] (\d+\.\d+)(, so 1)? \(min", sentence):
                quotients += float(value) > 1
                assert (float(value) <= 1) != bool(more), sentence
    assert quotients, "which some accepted nodes have"
