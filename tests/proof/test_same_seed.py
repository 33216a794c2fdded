"""Texts that must be those of plain decoding, token by token: at temperature 0, and with noise keyed by position."""

import numpy as np
import pytest

import specviz
from specviz.compatibility import compatible
from specviz.decode import speculate
from specviz.distributions import Sampling, probabilities
from specviz.randomness import Seeded
from specviz.tree import TokenTree
from tests.growing import BUILDERS, VERIFIERS

KEYED = [VERIFIERS["race"](), VERIFIERS["target-match"](keyed=True)]


def small(name):
    return BUILDERS[name].smallest()


@pytest.mark.parametrize("verifier", [*VERIFIERS.values(), KEYED[1]])
def test_every_rule_with_every_builder_is_greedy_at_temperature_zero(verifier):
    rule = verifier() if isinstance(verifier, type) else verifier
    for seed, name in enumerate(BUILDERS):
        for scheme in BUILDERS[name].schemes:
            pair = specviz.toy_pair(vocab=3 + seed % 4, seed=seed)
            config = specviz.RunConfig("ab", BUILDERS[name](), rule, 0.0, max_new_tokens=20, seed=seed)
            if not compatible(config, scheme).possible:
                continue
            written = [token for step in speculate(pair, config, scheme=scheme) for token in step.emitted]
            assert tuple(written) == specviz.autoregress(pair, config).tokens, (name, scheme)


@pytest.mark.parametrize("verifier", [name for name, rule in VERIFIERS.items() if rule.lossless and rule.reads_draft])
def test_a_draft_equal_to_the_target_is_always_accepted(verifier):
    pair = specviz.toy_pair(vocab=5, seed=4, closeness=1.0)
    config = specviz.RunConfig("ab", BUILDERS["chain"](depth=4), VERIFIERS[verifier](), 1.0, max_new_tokens=30)
    assert all(len(step.path) == 4 for step in speculate(pair, config) if len(step.parents) == 5)


@pytest.mark.parametrize("rule", KEYED, ids=["race", "target-match"])
def test_the_seed_alone_fixes_the_text(rule):
    """At least 1000 runs, over every builder, law and several temperatures: the very tokens of plain decoding."""
    runs, texts = 0, set()
    cases = [(name, scheme) for name in BUILDERS for scheme in BUILDERS[name].schemes]
    for seed in range(1050):
        name, scheme = cases[seed % len(cases)]
        pair = specviz.toy_pair(vocab=3 + seed % 5, seed=seed % 60)
        config = specviz.RunConfig("ab", small(name), rule, (0.6, 1.0, 1.5)[seed % 3], max_new_tokens=8, seed=seed)
        assert compatible(config, scheme).lossless
        written = tuple(token for step in speculate(pair, config, scheme=scheme) for token in step.emitted)
        assert written == specviz.autoregress(pair, config).tokens, (name, scheme, seed)
        texts.add(written)
        runs += 1
    assert runs >= 1000 and len(texts) > 500


def test_a_race_over_drafts_that_shared_the_race_accepts_more_than_over_independent_draws():
    pair = specviz.toy_pair(vocab=6, seed=2, closeness=0.8)
    config = specviz.RunConfig("ab", BUILDERS["chain"](depth=4), VERIFIERS["race"](), 1.0, max_new_tokens=600)
    steps = {scheme: len(list(speculate(pair, config, scheme=scheme))) for scheme in ("race", "iid")}
    assert steps["race"] < steps["iid"]


@pytest.mark.slow
@pytest.mark.parametrize("rule", KEYED, ids=["race", "target-match"])
def test_texts_over_many_seeds_have_the_targets_law(rule):
    """Equal texts prove nothing if plain decoding were off: chi-square of 20 000 pairs of tokens, at 1e-3."""
    vocab, runs = 3, 20_000
    rows = [probabilities(row, Sampling()) for row in np.random.default_rng(0).normal(size=(1 + vocab, vocab))]
    tree = TokenTree(0, start=7, scheme="top")
    for token in range(vocab):
        tree.add(0, token)
    counts = np.zeros((vocab, vocab))
    for seed in range(runs):
        verdict = rule(tree, rows, Seeded(seed))
        counts[tree.tokens[verdict.path[0]], verdict.bonus] += 1
    wanted = runs * rows[0][:, None] * np.array(rows[1:])
    assert ((counts - wanted) ** 2 / wanted).sum() < 26.12  # 8 degrees of freedom
