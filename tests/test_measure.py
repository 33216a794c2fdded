"""Measured acceptance against closed forms, on exact toy models."""

import numpy as np
import pytest

import specviz
from specviz.acceptance import check_acceptance, expected_tokens, find_acceptance, read_acceptance
from specviz.distributions import Sampling, total_variation
from specviz.measure import acceptance_vector, own_texts, rows_on_text, wilson
from specviz.tree import Topology

PAIR = specviz.toy_pair(vocab=5, seed=3)
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=50)
TEXTS = own_texts(PAIR, ["abc", "bca"], CONFIG)
RULES = {name: rule() for name, rule in specviz.VERIFIERS.items()}


def one_minus_tv():
    rows = [rows_on_text(PAIR, text, Sampling(), Sampling()) for text in TEXTS]
    return np.mean([1 - total_variation(p, q) for text in rows for _, p, q in text])


def test_rows_on_text_are_the_rows_of_both_models():
    text = TEXTS[0]
    for position, p, q in rows_on_text(PAIR, text, Sampling(), Sampling(0.5)):
        logits = PAIR.target.logits(text[: position + 1])
        assert p == pytest.approx(np.exp(logits) / np.exp(logits).sum())
        logits = PAIR.draft.logits(text[: position + 1]) / 0.5
        assert q == pytest.approx(np.exp(logits) / np.exp(logits).sum())


@pytest.mark.parametrize("rule", ["sequoia", "dyspec", "specinfer", "speculative-sampling"])
def test_one_child_is_accepted_with_one_minus_total_variation(rule):
    """Over many draws of the child the expected acceptance of every rejection rule is 1 - TV (Leviathan, th. 3.5)."""
    found = acceptance_vector(PAIR, RULES[rule], TEXTS * 60, CONFIG, width=1)
    assert found.method == "expected" and found.positions == 60 * sum(len(text) - 1 for text in TEXTS)
    assert found.acceptance[0] == pytest.approx(one_minus_tv(), abs=0.01)


def test_children_without_replacement_that_cover_the_vocabulary_are_always_accepted():
    """The cover property (Sequoia, theorem 4.2)."""
    found = acceptance_vector(PAIR, RULES["sequoia"], TEXTS, CONFIG, width=PAIR.vocab_size)
    assert sum(found.acceptance) == pytest.approx(1)


def test_target_match_counts_the_mass_of_the_most_probable_tokens():
    found = acceptance_vector(PAIR, RULES["target-match"], TEXTS * 60, CONFIG, width=3)
    rows = [rows_on_text(PAIR, text, Sampling(), Sampling()) for text in TEXTS]
    mass = np.mean([p[np.argsort(-q, kind="stable")[:3]] for text in rows for _, p, q in text], axis=0)
    assert found.method == "counted" and found.law == "top"
    assert found.acceptance == pytest.approx(mass, abs=0.02)


def test_at_temperature_zero_it_is_the_rank_of_the_best_token():
    config = specviz.RunConfig(temperature=0.0, max_new_tokens=50)
    found = acceptance_vector(PAIR, RULES["exact-match"], TEXTS, config, width=5)
    ranks = np.zeros(5)
    for text in TEXTS:
        for _, p, q in rows_on_text(PAIR, text, Sampling(), Sampling()):
            ranks[np.argsort(-q, kind="stable").tolist().index(int(np.argmax(p)))] += 1
    assert found.acceptance == pytest.approx(ranks / ranks.sum())


def test_intervals_hold_the_share_and_shrink():
    for share in (0.0, 0.2, 1.0):
        low, high = wilson(share, 50)
        assert 0 <= low <= share <= high <= 1
        assert wilson(share, 5000)[1] - wilson(share, 5000)[0] < high - low
    # the textbook example: 10 of 10
    assert wilson(1.0, 10)[0] == pytest.approx(0.7225, abs=1e-4)


def test_a_text_too_short_is_refused():
    with pytest.raises(ValueError, match="at least two tokens"):
        acceptance_vector(PAIR, RULES["sequoia"], [[1]], CONFIG)


def test_expected_tokens_of_a_chain_is_the_geometric_sum():
    """(1 - a^(n+1)) / (1 - a) (Leviathan et al. 2023, equation 1)."""
    chain = Topology((-1, 0, 1, 2, 3))
    assert expected_tokens(chain, (0.8,)) == pytest.approx((1 - 0.8**5) / 0.2)
    assert expected_tokens(chain, ((0.5,), (0.1,))) == pytest.approx(1 + 0.5 + 0.05 + 0.005 + 0.0005)
    assert expected_tokens(Topology((-1, 0, 0, 1)), (0.6, 0.2)) == pytest.approx(1 + 0.6 + 0.2 + 0.36)


def test_stored_vectors_are_sound_and_found_by_rule_and_temperature():
    for temperature in (0.0, 0.2, 1.0, 5.0):
        for rule in specviz.VERIFIERS:
            vector = find_acceptance(rule, temperature)
            assert check_acceptance(vector) == vector and 0 < sum(vector) <= 1 + 1e-4


@pytest.mark.parametrize("text", ["", "[]", '{"acceptance": []}', '{"acceptance": [2]}', '{"acceptance": "a"}', "{}"])
def test_a_bad_acceptance_file_gets_a_sentence(tmp_path, text):
    path = tmp_path / "vector.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="acceptance"):
        read_acceptance(path)
