"""What a static tree brings on the target's own texts, against closed forms and against runs of the tree itself."""

from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.acceptance.along_text import path_shares, shares_of, tokens_on_texts
from specviz.acceptance.on_text import own_texts
from specviz.acceptance.text_units import Written
from specviz.benchmarks.agreement import tokens_with_room
from specviz.builders.static import grow_shape
from specviz.randomness import Seeded
from specviz.theory.bounds import chain_tokens
from specviz.theory.forms import distinct_shares, iid_shares, match_shares
from specviz.theory.node import sequoia_acceptance, specinfer_acceptance

P = np.array([0.5, 0.2, 0.2, 0.1])
Q = np.array([0.1, 0.3, 0.2, 0.4])


def test_over_all_next_tokens_the_shares_are_the_acceptance_of_each_child():
    """sum over x of p(x) share[k](x) = P[k]: exactly if i.i.d., in the mean of draws if distinct."""
    rng = Seeded(0)
    summed = sum(P[x] * iid_shares(P, Q, x, 4, rng) for x in range(4))
    assert summed == pytest.approx(specinfer_acceptance(P, Q, 4))
    draws = 6000
    mean = sum(P[x] * distinct_shares(P, Q, x, 3, rng) for x in range(4) for _ in range(draws)) / draws
    assert mean == pytest.approx(sequoia_acceptance(P, Q, 3), abs=0.01)
    assert match_shares(P, Q, 1, 3, rng).tolist() == [0, 1, 0]  # the draft's second best
    assert match_shares(P, Q, 0, 6, rng).tolist() == [0, 0, 0, 1, 0, 0]


def test_without_a_fallback_there_are_no_shares_beyond_the_drafts_own_tokens():
    sure = np.array([0.0, 1.0, 0.0, 0.0])
    assert distinct_shares(P, sure, 0, 3, Seeded(1), fallback=False).tolist() == [0, 0, 0]
    with_it = np.mean([distinct_shares(P, sure, 0, 4, Seeded(seed)) for seed in range(2000)], axis=0)
    assert with_it.sum() == pytest.approx(1, abs=0.05)  # the cover property: somebody brings the token


def test_constant_shares_give_leviathans_formula_for_a_chain():
    shares = np.full((4000, 1), 0.7)
    mean, _ = tokens_on_texts(grow_shape([1] * 5), [shares])
    assert mean == pytest.approx(chain_tokens(0.7, 5))


def test_memory_is_seen():
    """Easy and hard tokens in blocks and in turn: one vector, but long paths only where the easy ones are together."""
    easy = np.tile(np.repeat([[1.0], [0.0]], 30, axis=0), (20, 1))
    turns = np.tile([[1.0], [0.0]], (600, 1))
    chain = grow_shape([1] * 5)
    assert tokens_on_texts(chain, [turns])[0] == pytest.approx(2)
    # 30 easy ones are five steps of six, then 30 hard ones a step each
    assert tokens_on_texts(chain, [easy])[0] == pytest.approx(60 / 35, rel=0.02)


@pytest.mark.parametrize(
    "builder",
    [
        specviz.BUILDERS["chain"](depth=3),
        specviz.BUILDERS["branching"](widths=(3, 1, 2)),
        specviz.BUILDERS["sequoia"](size=9, depth=4, acceptance=(0.5, 0.2, 0.1)),
    ],
)
def test_at_temperature_zero_it_is_what_the_tree_does_on_the_same_prompts(builder):
    pair = specviz.toy_pair(vocab=6, seed=1, closeness=0.5)
    rule = specviz.VERIFIERS["exact-match"]()
    config = specviz.RunConfig(builder=builder, verifier=rule, temperature=0.0, max_new_tokens=60)
    runs = [specviz.run(pair, replace(config, prompt=prompt)) for prompt in ("abc", "cab", "bca", "dd", "ea")]
    runs = [trace for trace in runs if trace.stop == "length"]  # an end of text cuts the last step of a run
    texts = [Written([*trace.prompt_tokens, *trace.tokens], len(trace.prompt_tokens)) for trace in runs]
    predicted = tokens_on_texts(builder.shape, path_shares(pair, rule, texts, config, width=3))
    *measured, steps = tokens_with_room(runs, int(builder.shape.depth.max()))
    assert predicted == pytest.approx(tuple(measured)) and steps > 20


def test_above_temperature_zero_it_agrees_with_runs():
    pair = specviz.toy_pair(vocab=8, seed=2, closeness=0.7)
    builder = specviz.BUILDERS["sequoia"](size=8, depth=3, acceptance=(0.6, 0.2, 0.1))
    for name in ("sequoia", "specinfer", "dyspec", "target-match"):
        rule = specviz.VERIFIERS[name]()
        config = specviz.RunConfig(builder=builder, verifier=rule, temperature=1.0, max_new_tokens=150)
        prompts = [f"{a}{b}" for a in "abcdefgh" for b in "ac"]
        shares = path_shares(pair, rule, own_texts(pair, prompts, config), config, width=3)
        predicted, margin = tokens_on_texts(builder.shape, shares)
        runs = [specviz.run(pair, replace(config, prompt=p, seed=100 + i)) for i, p in enumerate(prompts)]
        mean, spread, _ = tokens_with_room(runs, 3)
        assert abs(predicted - mean) < 1.7 * (margin**2 + spread**2) ** 0.5, name


def test_rules_that_look_at_whole_paths_have_no_shares_and_short_texts_no_tokens():
    assert shares_of(specviz.VERIFIERS["block"](), 1.0) is None
    assert shares_of(specviz.VERIFIERS["block"](), 0.0) is match_shares
    config = specviz.RunConfig(temperature=1.0)
    assert path_shares(specviz.toy_pair(), specviz.VERIFIERS["traversal"](), [[1, 2]], config) is None
    assert np.isnan(tokens_on_texts(grow_shape([1] * 5), [np.ones((3, 1))])).all()
