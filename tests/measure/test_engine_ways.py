"""What engines' ways bring: their own rule, the switch, lengths by batch, adaptive verification."""

import pytest

import specviz
from specviz.measure.engine_ways import (
    adaptive_verification,
    chain_survival,
    engine_rules,
    engine_ways,
    lengths_by_batch,
)
from specviz.measure.machines import flat_up_to
from specviz.measure.on_text import measure_acceptance
from specviz.measure.profile import Profile

CONFIG = specviz.RunConfig("ab", "sequoia", "sequoia", 0.8)
TEXTS = [[0, 1, 2, 3, 1, 0, 2, 1, 3, 0], [2, 2, 1, 0, 3, 1, 2], [3, 1, 0, 0, 2, 1]]


@pytest.fixture(scope="module")
def profile():
    pair = specviz.toy_pair(vocab=4, closeness=0.8)
    rules = [CONFIG.verifier, *engine_rules(CONFIG)]
    *_, last = measure_acceptance(pair, rules, TEXTS, CONFIG, 4)
    return Profile("a test", pair.info, {"name": "model"}, last.result)


def test_rules_of_engines():
    assert [rule.name for rule in engine_rules(CONFIG)] == ["target-match", "speculative-sampling"]
    assert engine_rules(specviz.RunConfig("ab", temperature=0.0)) == []


def test_ways_follow_their_own_vectors(profile):
    ways = engine_ways(profile, CONFIG, flat_up_to(64), [1, 4])
    assert set(ways) == {"chain", "tree", "sampled"}
    for way, one in ways.items():
        vector = profile.vector(one.config.verifier.name, 0.8).plan
        shape = one.tree.builder.shape
        assert one.tree.predicted.tokens_per_pass == pytest.approx(
            specviz.record.vectors.expected_tokens(shape, vector)
        )
        assert way == "tree" or not shape.rank.any()
    match = profile.vector("target-match", 0.8)
    drawn = profile.vector("speculative-sampling", 0.8)
    assert match.scheme == "top" and drawn.scheme == "iid"


def test_a_rule_that_was_not_measured_has_no_way(profile):
    alone = Profile("a test", profile.pair, profile.drafter, profile.vectors[:1])
    assert engine_ways(alone, CONFIG, flat_up_to(64), []) == {}


def test_lengths_fall_with_the_number_of_requests(profile):
    costs = flat_up_to(16)
    vector = profile.vector("speculative-sampling", 0.8)
    ranges = lengths_by_batch(vector, costs, [16, 1, 4])
    assert [(low, high) for low, high, _ in ranges] == [(1, 1), (2, 4), (5, 16)]
    assert ranges[0][2] >= ranges[1][2] >= ranges[2][2] == 0, "at 16 a pass has no room"


def test_adaptive_verification_is_never_slower_than_a_fixed_chain(profile):
    vector = profile.vector("target-match", 0.8)
    for texts in (1, 3, 8, 40):
        (_, fixed), drafted, verified, adaptive = adaptive_verification(
            vector, flat_up_to(16), texts
        )
        assert adaptive >= fixed - 1e-9 and 0 <= verified <= drafted
    # Texts that differ: slots of the easy one are worth more than those of the hard one.
    easy_and_hard = ((10, (0.9,)), (10, (0.1,)))
    mixed = specviz.measure.engine_ways.replace(
        vector, acceptance=(0.5,), low=(None,), high=(None,), by_text=easy_and_hard, categories=()
    )
    (_, fixed), drafted, verified, adaptive = adaptive_verification(mixed, flat_up_to(6), 2)
    assert verified < drafted and adaptive > fixed


def test_survival_is_a_product():
    assert chain_survival((0.5, 0.2))[:3] == [0.5, 0.25, 0.125]
    assert chain_survival(((0.5,), (0.2,)))[:3] == pytest.approx([0.5, 0.1, 0.02])
