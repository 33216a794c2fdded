"""Measured acceptance against closed forms, on exact toy models."""

import json
from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.base.codec import dumps, read
from specviz.measure.on_text import TextAcceptance, measure_acceptance, summarise
from specviz.measure.positions import distributions_on_text
from specviz.measure.texts import Text, continuations, limited, windows
from specviz.record.intervals import ratio_interval
from specviz.record.vector_files import published, read_vector
from specviz.record.vectors import AcceptanceVector, check_acceptance, find_acceptance
from specviz.sampling.distributions import total_variation
from tests.acceptance import acceptance_vector

PAIR = specviz.toy_pair(vocab=5, seed=3)
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=50)
TEXTS = list(continuations(PAIR, ["abc", "bca"], CONFIG))
RULES = {name: rule() for name, rule in specviz.VERIFIERS.items()}


def one_minus_tv():
    rows = [distributions_on_text(PAIR, text, CONFIG) for text in TEXTS]
    return np.mean([1 - total_variation(p, q) for text in rows for _, p, q in text])


def test_rows_on_text_are_the_rows_of_both_models():
    text = TEXTS[0]
    for position, p, q in distributions_on_text(
        PAIR, text, specviz.RunConfig(temperature=1.0, draft_temperature=0.5)
    ):
        logits = PAIR.target.logits(text.tokens[: position + 1])
        assert p == pytest.approx(np.exp(logits) / np.exp(logits).sum())
        logits = PAIR.draft.logits(text.tokens[: position + 1]) / 0.5
        assert q == pytest.approx(np.exp(logits) / np.exp(logits).sum())


@pytest.mark.parametrize("rule", ["sequoia", "dyspec", "specinfer", "speculative-sampling"])
def test_one_child_is_accepted_with_one_minus_total_variation(rule):
    """Over many draws of the child the expected acceptance of every rejection rule is 1 - TV
    (Leviathan, th. 3.5)."""
    found = acceptance_vector(PAIR, RULES[rule], TEXTS * 60, CONFIG, width=1)
    assert found.method == "expected" and found.positions == 60 * sum(
        text.positions for text in TEXTS
    )
    assert found.acceptance[0] == pytest.approx(one_minus_tv(), abs=0.01)


def test_target_match_counts_the_mass_of_the_most_probable_tokens():
    found = acceptance_vector(PAIR, RULES["target-match"], TEXTS * 60, CONFIG, width=3)
    rows = [distributions_on_text(PAIR, text, CONFIG) for text in TEXTS]
    mass = np.mean(
        [p[np.argsort(-q, kind="stable")[:3]] for text in rows for _, p, q in text], axis=0
    )
    assert found.method == "counted" and found.scheme == "top"
    assert found.acceptance == pytest.approx(mass, abs=0.02)


def test_at_temperature_zero_it_is_the_rank_of_the_best_token():
    config = specviz.RunConfig(temperature=0.0, max_new_tokens=50)
    found = acceptance_vector(PAIR, RULES["exact-match"], TEXTS, config, width=5)
    ranks = np.zeros(5)
    for text in TEXTS:
        for _, p, q in distributions_on_text(PAIR, text, CONFIG):
            ranks[np.argsort(-q, kind="stable").tolist().index(int(np.argmax(p)))] += 1
    assert found.acceptance == pytest.approx(ranks / ranks.sum())


def test_a_measurement_survives_json_and_a_damaged_one_gets_a_sentence():
    found = acceptance_vector(PAIR, RULES["sequoia"], TEXTS[:1], CONFIG, width=3)
    good = json.loads(dumps(found, all_digits=True))
    assert read(AcceptanceVector, good, "vector") == found
    for change, words in (
        ({"low": [0.1]}, "one length"),
        ({"acceptance": [2, 0, 0]}, "vector.acceptance"),
        ({"positions": 0}, "positions"),
        ({"temperature": "warm"}, "temperature"),
    ):
        with pytest.raises(ValueError, match=words):
            read(AcceptanceVector, good | change, "vector")


def test_a_text_too_short_is_rejected():
    with pytest.raises(ValueError, match="at least two tokens"):
        acceptance_vector(PAIR, RULES["sequoia"], [[1]], CONFIG)


def test_stored_vectors_are_sound_and_found_by_rule_and_temperature():
    for temperature in (0.0, 0.2, 1.0, 5.0):
        for rule in specviz.VERIFIERS:
            vector = find_acceptance(rule, temperature)
            assert check_acceptance(vector) == vector and 0 < sum(vector) <= 1 + 1e-4


def test_published_vectors_load_and_name_their_source():
    found = published()
    assert "llama3-8b-70b-cnn" in found and "embedded" not in found
    for vector in found.values():
        assert vector.title and vector.source and vector.url.startswith("https://")
        assert 0 < sum(vector.acceptance) <= 1
    assert (
        len(found["llama3-8b-70b-cnn"].acceptance) == 31
        and found["llama3-8b-70b-cnn"].acceptance[0] == 0.7732
    )


DEEP = [f'{{"acceptance": {"[" * n}0.5{"]" * n}}}' for n in (3, 900, 200_000)]


@pytest.mark.parametrize(
    "text",
    ["", "[]", '{"acceptance": []}', '{"acceptance": [2]}', '{"acceptance": "a"}', "{}", *DEEP],
)
def test_a_bad_acceptance_file_gets_a_sentence(tmp_path, text):
    path = tmp_path / "vector.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="acceptance") as raised:
        read_vector(path)
    assert len(str(raised.value)) < 400


# All rules on the same rows, and what recorded runs tell.


def test_a_vectors_interval_is_that_of_its_texts_and_one_text_has_none():
    config = specviz.RunConfig(temperature=0.0, max_new_tokens=60)
    texts = list(continuations(PAIR, ["a", "b", "c", "ab", "ba"], config))
    every = [
        acceptance_vector(PAIR, RULES["exact-match"], [text], config, width=2) for text in texts
    ]
    assert {(one.low, one.high) for one in every} == {((None, None), (None, None))}
    found = acceptance_vector(PAIR, RULES["exact-match"], texts, config, width=2)
    hits, tries = (
        [one.acceptance[0] * one.positions for one in every],
        [one.positions for one in every],
    )
    assert (found.low[0], found.high[0]) == ratio_interval(hits, tries)
    pieces = [replace(text, source="one") for text in texts]
    joined = acceptance_vector(PAIR, RULES["exact-match"], pieces, config, width=2)
    assert joined.low == (None, None) and joined.by_text == ((joined.positions, joined.acceptance),)
    assert (
        joined.acceptance == pytest.approx(found.acceptance)
        and found.over(range(5)) == found.acceptance
    )


def test_the_prompts_positions_are_left_out():
    text = Text((1, 2, 3, 0, 4), 3)
    assert [at for at, _, _ in distributions_on_text(PAIR, text, CONFIG)] == [2, 3]
    assert text.positions == 2 and [one.tokens for one in limited([Text((1,)), text], 1)] == [
        (1, 2, 3, 0)
    ]


def test_windows_of_a_text_are_one_text(monkeypatch):
    pair = specviz.toy_pair(vocab=5, seed=3)
    monkeypatch.setattr(pair, "max_positions", 8)
    pieces = list(windows(pair, "abcde" * 5, "a file"))
    assert [len(piece.tokens) for piece in pieces] == [8, 8, 8, 1] and {
        piece.source for piece in pieces
    } == {"a file"}
    found = acceptance_vector(pair, RULES["sequoia"], pieces, CONFIG, width=2)
    assert found.positions == 21 and len(found.by_text) == 1 and found.low == (None, None)


def test_rules_are_measured_together_as_alone_and_stopping_leaves_fewer_texts():
    rules = [RULES["sequoia"], RULES["race"], RULES["block"]]
    updates = list(measure_acceptance(PAIR, rules, [[1], *TEXTS], CONFIG, 3, positions=100))
    assert [(one.done, one.total) for one in updates] == [(50, 100), (100, 100)]
    for rule, found in zip(rules, updates[-1].result, strict=True):
        assert found == acceptance_vector(PAIR, rule, [[1], *TEXTS], CONFIG, 3)
    assert updates[0].result[0] == acceptance_vector(PAIR, rules[0], [[1], TEXTS[0]], CONFIG, 3)


def test_the_largest_seed_is_a_seed():
    config = replace(CONFIG, seed=2**53, max_new_tokens=4)
    texts = list(continuations(PAIR, ["abc", "bca"], config))
    assert (
        len(texts) == 2
        and acceptance_vector(PAIR, RULES["sequoia"], texts, config, 2).positions == 8
    )


def test_an_expected_count_that_rounding_carries_past_the_tries_is_a_share_of_one():
    rule = specviz.VERIFIERS["sequoia"]()
    text = TextAcceptance(np.array([[3.0000000000000004, 0.0]]), np.array([3.0]), True, "a text")
    vector = summarise([text], specviz.toy_pair(), rule, specviz.RunConfig("a"))
    assert vector.by_text == ((3, (1.0, 0.0)),)
