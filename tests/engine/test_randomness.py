"""Seeded answers: reproducible, never a token of probability zero, and the laws they promise."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import specviz
from specviz.proof.enumerate import ScriptedRandomness, distribution_of
from specviz.proof.same_text import margin_at
from specviz.sampling.children import draw_children, most_probable
from specviz.sampling.randomness import Seeded, argsmallest, first_arrivals


def test_noise_is_keyed_by_position_and_independent_of_the_stream():
    rng = Seeded(0)
    before = rng.noise(5, 4).tolist()
    answers = [rng.flip(0.5), rng.draw(np.ones(9))]
    assert rng.noise(5, 4).tolist() == before != rng.noise(6, 4).tolist()
    again, other = Seeded(0), Seeded(1)
    assert (
        answers
        == [again.flip(0.5), again.draw(np.ones(9))]
        != [other.flip(0.5), other.draw(np.ones(9))]
    )


@given(
    st.lists(st.sampled_from([0.0, 0.2, 1.0]), min_size=1, max_size=8).filter(any),
    st.integers(0, 10**6),
)
def test_a_draw_never_has_probability_zero(weights, seed):
    assert weights[Seeded(seed).draw(np.array(weights))] > 0


@pytest.mark.parametrize("uniform", [0.0, np.nextafter(1.0, 0.0)])
def test_a_draw_at_the_ends_of_the_unit_interval_has_positive_probability(uniform):
    rng = Seeded(0)
    rng._stream = type("Stream", (), {"random": staticmethod(lambda: uniform)})
    probs = np.array([0.0, 0.3, 0.0, 0.7, 0.0])
    assert probs[rng.draw(probs)] > 0


def test_seeded_draws_have_the_law_they_promise():
    rng, probs = Seeded(0), np.array([0.5, 0.0, 0.3, 0.2])
    counts = np.bincount([rng.draw(probs) for _ in range(20_000)], minlength=4)
    assert np.abs(counts / 20_000 - probs).max() < 0.015
    assert abs(np.mean([rng.flip(0.3)[0] for _ in range(20_000)]) - 0.3) < 0.015


def test_distinct_children_have_the_law_of_sequential_draws():
    """Without replacement: q(a) q(b) / (1 - q(a)); after q is used up, uniform among the rest."""
    q = np.array([0.6, 0.4, 0.0, 0.0])
    found = distribution_of(lambda rng: tuple(draw_children(q, 3, "distinct", rng, 0)))
    assert found == pytest.approx({(0, 1, 2): 0.3, (0, 1, 3): 0.3, (1, 0, 2): 0.2, (1, 0, 3): 0.2})


def test_independent_children_keep_their_duplicates():
    found = distribution_of(
        lambda rng: tuple(draw_children(np.array([0.5, 0.5]), 2, "iid", rng, 0))
    )
    assert found == {(0, 0): 0.25, (0, 1): 0.25, (1, 0): 0.25, (1, 1): 0.25}


def test_distinct_and_top_stop_at_the_end_of_the_vocabulary():
    q = np.array([0.2, 0.5, 0.3])
    assert sorted(draw_children(q, 9, "distinct", Seeded(0), 0)) == [0, 1, 2]
    assert draw_children(q, 9, "top", Seeded(0), 0) == [1, 2, 0]


@given(
    st.lists(st.sampled_from([0.0, 1.0, 2.0, np.inf]), min_size=1, max_size=300), st.integers(1, 12)
)
def test_the_smallest_are_those_of_a_stable_sort_infinite_ones_included(values, count):
    values = np.array(values)
    order = np.argsort(values, kind="stable")[:count].tolist()
    assert argsmallest(values, count).tolist() == most_probable(np.exp(-values), count) == order


def test_no_racer_arrives_twice_and_a_lone_one_wins_by_an_infinite_margin():
    """Top-k leaves fewer racers than are asked for, and the first of them is token 0."""
    probs = np.array([0.7, 0.0, 0.0, 0.0, 0.3])
    assert first_arrivals(probs, np.ones(5), 3).tolist() == [0, 4]
    pair = specviz.toy_pair(vocab=6, seed=0)
    config = specviz.RunConfig(
        "a", specviz.BUILDERS["chain"](), specviz.VERIFIERS["race"](), 1.0, top_k=1
    )
    assert all(margin_at(pair, config, [token]) == np.inf for token in range(6))


def test_a_margin_is_that_of_the_text_which_the_pair_reads():
    """A chat model reads a prompt within its template."""
    pair, chat = specviz.toy_pair(), specviz.toy_pair()
    chat.chat = True
    chat.encode = lambda messages: pair.encode(f"b{messages[0].content}c")
    config = specviz.RunConfig("a", "chain", "race", 1.0)
    expected = margin_at(pair, replace(config, prompt="bac"), [1, 0])
    assert margin_at(chat, config, [1, 0]) == expected != margin_at(pair, config, [1, 0])


def test_a_race_is_won_with_the_probabilities_of_its_runners():
    probs, generator = np.array([0.5, 0.3, 0.0, 0.2]), np.random.default_rng(0)
    winners = [first_arrivals(probs, generator.exponential(size=4))[0] for _ in range(20_000)]
    assert np.abs(np.bincount(winners, minlength=4) / 20_000 - probs).max() < 0.015
    order = first_arrivals(probs, np.array([0.1, 0.9, 0.0, 0.1]), 9)
    assert order.tolist() == [0, 3, 1]  # 0.2, 0.5, 3.0; the token of probability 0 does not run


def test_enumeration_weighs_every_outcome():
    def program(rng):
        return rng.draw(np.array([1.0, 3.0])), rng.flip(0.25)[0]

    assert distribution_of(program) == {
        (0, True): 0.0625,
        (0, False): 0.1875,
        (1, True): 0.1875,
        (1, False): 0.5625,
    }
    for choice in (0, 1):
        answer, coin = ScriptedRandomness([(choice, 2)]).flip(0.4)
        assert answer == (coin < 0.4)
