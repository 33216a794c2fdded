"""A pair whose own draft is no model names the drafter that reads with it, for runs and for
measurements."""

import pytest

import specviz
from tests.acceptance import acceptance_vector


@pytest.fixture
def pair():
    """Toy tables without a draft of their own, whose draft is the toy EAGLE."""
    toys = specviz.toy_pair()
    toys.draft = None
    toys.default_drafter = "eagle"
    return toys


def test_a_run_drafts_with_the_pairs_own_draft_and_says_so(pair):
    config = specviz.RunConfig("ab", "chain:depth=2", "naive", max_new_tokens=8)
    trace = specviz.run(pair, config)
    assert trace.config.drafter.name == "eagle"
    assert {name for step in trace.steps for name in step.drafter} == {"eagle", None}
    named = specviz.run(
        pair, specviz.RunConfig("ab", "chain:depth=2", "naive", drafter="eagle", max_new_tokens=8)
    )
    assert named.tokens == trace.tokens
    assert specviz.run(pair, trace.config).tokens == trace.tokens


def test_another_drafter_is_taken_as_it_is_named(pair):
    config = specviz.RunConfig("ab", "chain:depth=2", "naive", drafter="ngram", max_new_tokens=8)
    assert config.for_pair(pair) == config
    assert specviz.run(pair, config).config.drafter.name == "ngram"
    small = specviz.toy_pair()
    model = specviz.RunConfig("ab", "chain:depth=2", "naive", max_new_tokens=8)
    assert specviz.run(small, model).config.drafter.name == "model"


def test_acceptance_is_that_of_the_pairs_own_draft(pair):
    texts = [pair.encode("abcab")]
    rule = specviz.VERIFIERS["naive"]()
    measured = acceptance_vector(pair, rule, texts, specviz.RunConfig())
    named = acceptance_vector(pair, rule, texts, specviz.RunConfig(drafter="eagle"))
    assert measured.acceptance == named.acceptance
