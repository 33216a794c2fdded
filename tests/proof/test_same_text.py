"""The same text as plain decoding, token by token: at temperature 0, and with noise keyed by
position."""

from functools import cache

import numpy as np
import pytest

import specviz
from specviz.config.run_config import compatible
from specviz.decode import speculate
from specviz.proof.same_text import Comparison, comparing, promised
from specviz.sampling.distributions import Sampling, probabilities
from specviz.sampling.randomness import Seeded
from specviz.tree import TokenTree
from tests.growing import BUILDERS, VERIFIERS

PAIR = specviz.toy_pair(vocab=7, seed=2)
RACE = VERIFIERS["race"]()
KEYED = [RACE, VERIFIERS["target-match"](keyed=True)]


def compare(config, tokens):
    *_, found = comparing(PAIR, config, tokens)
    return found


def run_of_race(temperature=1.0):
    config = specviz.RunConfig("abc", "chain", RACE, temperature, max_new_tokens=20)
    return config, list(specviz.run(PAIR, config).tokens)


GREEDY = [verifier for verifier in VERIFIERS.values() if verifier.exact_at_zero]


@cache  # once for all rules
def plain_text(seed):
    """A pair, and the 12 tokens that plain decoding writes with it at temperature 0."""
    pair = specviz.toy_pair(vocab=3 + seed % 4, seed=seed)
    config = specviz.RunConfig("ab", "plain", "plain", 0.0, max_new_tokens=12, seed=seed)
    return pair, specviz.autoregress(pair, config).tokens


@pytest.mark.parametrize("verifier", [*GREEDY, KEYED[1]])
def test_every_rule_with_every_builder_is_greedy_at_temperature_zero(verifier):
    rule = verifier() if isinstance(verifier, type) else verifier
    for seed, name in enumerate(BUILDERS):
        for scheme in BUILDERS[name].schemes:
            pair, plain = plain_text(seed)
            config = specviz.RunConfig(
                "ab", BUILDERS[name](), rule, 0.0, max_new_tokens=12, seed=seed
            )
            if not compatible(config, scheme).possible:
                continue
            written = [
                token for step in speculate(pair, config, scheme=scheme) for token in step.emitted
            ]
            assert tuple(written) == plain, (name, scheme)


@pytest.mark.parametrize("rounds", [2, pytest.param(8, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("rule", KEYED, ids=["race", "target-match"])
def test_the_seed_alone_fixes_the_text(rule, rounds):
    """Over every builder, scheme and several temperatures: the very tokens of plain decoding."""
    texts, cases = set(), [(name, scheme) for name in BUILDERS for scheme in BUILDERS[name].schemes]
    for seed in range(rounds * len(cases)):
        name, scheme = cases[seed % len(cases)]
        pair = specviz.toy_pair(vocab=3 + seed % 5, seed=seed % 60)
        config = specviz.RunConfig(
            "ab",
            BUILDERS[name].proof_instance(),
            rule,
            (0.6, 1.0, 1.5)[seed % 3],
            max_new_tokens=8,
            seed=seed,
        )
        assert compatible(config, scheme).lossless
        written = tuple(
            token for step in speculate(pair, config, scheme=scheme) for token in step.emitted
        )
        assert written == specviz.autoregress(pair, config).tokens, (name, scheme, seed)
        texts.add(written)
    assert len(texts) > rounds * len(cases) / 4


@pytest.mark.slow
@pytest.mark.parametrize("rule", KEYED, ids=["race", "target-match"])
def test_texts_over_many_seeds_have_the_targets_distribution(rule):
    """Equal texts prove nothing if plain decoding were off: chi-square of 8 000 pairs of tokens,
    at 1e-3."""
    vocab, runs = 3, 8_000
    rows = [
        probabilities(row, Sampling())
        for row in np.random.default_rng(0).normal(size=(1 + vocab, vocab))
    ]
    tree = TokenTree(0, start=7, scheme="top")
    for token in range(vocab):
        tree.add(0, token)
    counts = np.zeros((vocab, vocab))
    for seed in range(runs):
        verdict = rule(tree, rows, Seeded(seed))
        counts[tree.tokens[verdict.path[0]], verdict.bonus] += 1
    expected = runs * rows[0][:, None] * np.array(rows[1:])
    assert ((counts - expected) ** 2 / expected).sum() < 26.12  # 8 degrees of freedom


def test_drafts_that_shared_the_race_are_accepted_more_often_and_a_perfect_draft_always():
    pair = specviz.toy_pair(vocab=6, seed=2, closeness=0.8)
    config = specviz.RunConfig("ab", BUILDERS["chain"](depth=4), RACE, 1.0, max_new_tokens=600)
    steps = {
        scheme: len(list(speculate(pair, config, scheme=scheme))) for scheme in ("race", "iid")
    }
    assert steps["race"] < steps["iid"]
    pair = specviz.toy_pair(vocab=5, seed=4, closeness=1.0)
    for name in (name for name, rule in VERIFIERS.items() if rule.lossless and rule.reads_draft):
        config = specviz.RunConfig("ab", BUILDERS["chain"](depth=4), name, 1.0, max_new_tokens=30)
        assert all(
            len(step.path) == 4 for step in speculate(pair, config) if len(step.parents) == 5
        )


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_a_difference_is_found_with_the_margin_of_the_two_best(temperature):
    config, tokens = run_of_race(temperature)
    tokens[8] = (tokens[8] + 1) % 7
    found = compare(config, tokens)
    assert (found.equal, found.position, found.compared) == (False, 8, 9) and found.margin > 0


def test_the_comparison_goes_token_by_token_and_sees_a_text_that_ends_early_or_late():
    config, tokens = run_of_race()
    assert [found.compared for found in comparing(PAIR, config, tokens)] == list(range(1, 21))
    assert compare(config, []) == Comparison(1, 0, early="run")
    short, long = (compare(config, text) for text in (tokens[:13], [*tokens, 3]))
    assert (short.equal, short.position, short.early) == (False, 13, "run")
    assert (long.equal, long.position, long.early) == (False, 20, "plain")


def test_only_keyed_rules_and_temperature_zero_promise_the_text():
    sequoia, match = VERIFIERS["sequoia"](), VERIFIERS["target-match"]()
    assert promised(RACE, 1.0) and promised(sequoia, 0.0) and promised(KEYED[1], 1.0)
    assert not promised(sequoia, 1.0) and not promised(match, 0.5)
    assert not promised(specviz.VERIFIERS["fly"](), 0.0), "which is lossy there too"


@pytest.mark.parametrize(
    ("margin", "dtype", "rounding"),
    [
        (0.0031, "bfloat16", True),
        (0.0031, "float32", False),
        (2e-6, "float32", True),
        (2.0, "bfloat16", False),
    ],
)
def test_rounding_explains_near_ties_of_its_format_alone(margin, dtype, rounding):
    assert (f"({dtype} rounding)" in Comparison(13, 12, margin).sentence(dtype)) is rounding
