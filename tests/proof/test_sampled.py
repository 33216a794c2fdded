"""Two tokens sampled many times beside their exact distribution, on exact toy models."""

from itertools import product

import numpy as np
import pytest

import specviz
from specviz.config.run_config import compatible
from specviz.proof.sampled import Sampled, _CachedPair, exact_texts, sampling
from specviz.sampling.distributions import probabilities


def last(pair, config, runs=400):
    return list(sampling(pair, config, runs))[-1]


@pytest.mark.parametrize("eos", [(), (2,)])
def test_the_exact_probabilities_are_those_of_all_pairs(eos):
    pair, config = specviz.toy_pair(vocab=40, eos=eos), specviz.RunConfig([0, 1], temperature=0.7)
    p = {
        text: probabilities(pair.target.logits([0, 1, *text]), config.target_sampling)
        for text in [(), *product(range(40))]
    }
    wanted = {(a, b): p[()][a] * p[a,][b] for a, b in product(range(40), repeat=2) if a not in eos}
    wanted |= {(a,): p[()][a] for a in eos}
    best = sorted(wanted.items(), key=lambda item: -item[1])[:10]
    assert exact_texts(pair, config) == pytest.approx(dict(best))


@pytest.mark.parametrize("drafter", ["model", "ngram", "eagle"])
@pytest.mark.parametrize(
    ("builder", "rule"), [("sequoia:size=8", "sequoia"), ("chain", "block"), ("batch", "race")]
)
def test_lossless_rules_do_not_deviate_and_every_run_is_counted(builder, rule, drafter):
    found = last(
        specviz.toy_pair(vocab=8), specviz.RunConfig("ab", builder, rule, 1.0, drafter=drafter)
    )
    assert found.runs == found.of == sum(found.speculated) == sum(found.plain) == 400
    assert sum(found.exact) == pytest.approx(1) and len(found.exact) == len(found.pieces) == 11
    assert not found.deviates(found.speculated) and not found.deviates(found.plain)
    assert (found.passes is None) == (drafter == "eagle")  # which reads the target's hidden states


def test_a_lossy_rule_deviates():
    config = specviz.RunConfig("ab", "chain", "typical", 1.0)
    found = last(specviz.toy_pair(vocab=8), config)
    assert found.deviates(found.speculated) and not found.deviates(found.plain)
    assert found.distance(found.speculated) > 2 * found.expected > found.distance(found.plain)


def test_at_temperature_zero_one_text_is_possible():
    found = last(
        specviz.toy_pair(vocab=8), specviz.RunConfig("ab", "chain", "sequoia", 0.0), runs=5
    )
    assert found.exact == (1.0, 0.0) and found.speculated == (5, 0) and found.expected == 0
    assert Sampled(5, 5, found.pieces, found.exact, (4, 1), (5, 0)).deviates((4, 1))
    assert not Sampled(0, 5, found.pieces, found.exact, (0, 0), (0, 0)).deviates((0, 0))


@pytest.mark.parametrize("drafter", ["model", "ngram"])
@pytest.mark.parametrize("builder", ["sequoia:size=8", "dyspec:size=8", "eagle2", "lookahead"])
def test_a_remembered_pair_writes_the_same_texts_and_reads_each_once(builder, drafter):
    pair = specviz.toy_pair(vocab=8)
    cached = _CachedPair(pair, pair.encode("ab"))
    passes = cached.target.read.cache_info
    rule = "target-match" if builder == "lookahead" else "sequoia"
    for seed in (1, 2, 1):
        config = specviz.RunConfig(
            "ab", builder, rule, 0.8, max_new_tokens=12, seed=seed, drafter=drafter
        )
        if not compatible(config).possible:
            config = specviz.RunConfig(
                "ab", builder, "target-match", 0.8, max_new_tokens=12, seed=seed, drafter=drafter
            )
        before = passes().misses
        assert specviz.run(cached, config).tokens == specviz.run(pair, config).tokens
    assert before == passes().misses > 0  # the third run was the first again


def test_what_is_impossible_is_said():
    with pytest.raises(ValueError, match="chain"):
        next(sampling(specviz.toy_pair(), specviz.RunConfig("ab", "sequoia", "block")))
    with pytest.raises(ValueError, match="prompt"):
        next(sampling(specviz.toy_pair(), specviz.RunConfig([99])))


def test_the_expected_distance_is_the_mean_of_exact_samples():
    exact = np.array([0.4, 0.3, 0.2, 0.1])
    draws = np.random.default_rng(1).multinomial(500, exact, size=300)
    found = Sampled(500, 500, ("a", "b", "c", ""), tuple(exact), (), ())
    distances = [found.distance(tuple(draw)) for draw in draws]
    assert found.expected == pytest.approx(np.mean(distances), rel=0.1)
    assert sum(found.deviates(tuple(draw)) for draw in draws) <= 2


def test_exact_samples_deviate_once_in_a_thousand_times_and_the_impossible_always():
    exact = np.array([0.6, 0.2, 0.1, 0.05, 0.03, 0.01, 0.005, 0.005])
    found = Sampled(1000, 1000, (), tuple(exact), (), ())
    draws = np.random.default_rng(3).multinomial(1000, exact, size=5000)
    farthest = draws[np.argsort(((draws - 1000 * exact) ** 2 / exact).sum(axis=1))][-60:]
    assert 0 < sum(found.deviates(tuple(draw)) for draw in farthest) <= 15, "of 5,000 draws about 5"
    assert Sampled(6, 6, (), (0.5, 0.5, 0.0), (), ()).deviates((3, 2, 1))
    assert not Sampled(6, 6, (), (0.5, 0.5, 0.0), (), ()).deviates((4, 2, 0))


def test_the_largest_seed_can_be_sampled_with():
    config = specviz.RunConfig("ab", "chain", "block", 1.0, seed=2**53)
    assert last(specviz.toy_pair(vocab=4), config, runs=4).runs == 4
