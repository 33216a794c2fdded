"""The choice of a tree, and what is promised of it on texts that it was not chosen on."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

import specviz
from specviz.measure import choose
from specviz.measure.forecast import forecast, predict
from specviz.measure.machines import flat_up_to, machine
from specviz.record.vectors import AcceptanceVector, expected_tokens

CONFIG = specviz.RunConfig(temperature=1.0)
VECTOR = (0.6, 0.2, 0.1)


def test_the_first_candidate_is_the_best_of_all_shapes():
    cost = machine("a100")
    ranked = choose.candidates(VECTOR, cost, CONFIG)
    speeds = [one.predicted.speedup for one in ranked]
    assert speeds == sorted(speeds, reverse=True)
    assert {one.builder.name for one in ranked} == {"sequoia", "chain", "k-sequences"}
    assert speeds[0] == pytest.approx(forecast(VECTOR, cost).best.speedup)
    for one in ranked[:3]:
        assert one.predicted.speedup == pytest.approx(
            predict(one.builder.shape, VECTOR, cost).speedup
        )
    assert len(ranked[0].builder.shape) == ranked[0].predicted.size


def test_a_choice_that_is_a_chain_is_called_one():
    best = choose.candidates((0.8,), flat_up_to(8), CONFIG)[0]
    assert best.name == f"chain:depth={best.predicted.depth}"
    block = replace(CONFIG, verifier="block")
    assert all(one.builder.is_chain for one in choose.candidates((0.8,), flat_up_to(8), block))


def test_a_choice_is_lossless_with_the_drafter_where_some_tree_is():
    config = replace(
        CONFIG,
        verifier="spectr",
        drafter=specviz.DRAFTERS["several"](drafters=("model", "early-exit")),
    )
    assert not specviz.compatible(replace(config, builder="sequoia")).lossless
    best = choose.candidates(VECTOR, flat_up_to(64), config)[0]
    assert (
        best.builder.is_chain and specviz.compatible(replace(config, builder=best.builder)).lossless
    )


def test_candidates_that_are_listed_differ():
    ranked = choose.candidates(VECTOR, machine("a100"), CONFIG)
    first, second, third = choose.diverse(ranked, 3)
    assert first == ranked[0]
    for one, other in ((first, second), (second, third)):
        sizes = sorted((one.predicted.size, other.predicted.size))
        assert one.builder.name != other.builder.name or sizes[0] <= 0.75 * sizes[1]


def noisy(texts, ranks, seed=0):
    """A vector measured on few positions: the ranks are equally good, and noise makes one look
    best."""
    rng = np.random.default_rng(seed)
    rows = [
        tuple((rng.multinomial(12, [0.8 / ranks] * ranks + [0.2])[:ranks] / 12).tolist())
        for _ in range(texts)
    ]
    mean = tuple(np.mean(rows, axis=0).tolist())
    return AcceptanceVector(
        mean, verifier="sequoia", temperature=1.0, by_text=tuple((12, row) for row in rows)
    )


@pytest.mark.parametrize("seeds", [4, pytest.param(12, marks=pytest.mark.nightly)])
def test_the_promise_of_the_best_of_many_holds_on_other_texts(seeds, monkeypatch):
    """Of noisy estimates the best is too good by what the choice made of the noise; held-out texts
    have none of it."""
    cost, truth = machine("flat:16"), (0.1,) * 8
    # Larger and deeper trees are never the best here, and take most of the time.
    few = partial(forecast, sizes=(*range(2, 17), 20, 24, 32), depths=range(1, 9))
    monkeypatch.setattr(choose, "forecast", few)
    optimism, promised, real = [], [], []
    for seed in range(seeds):
        vector = noisy(6, 8, seed)
        best = choose.candidates(vector.plan, cost, CONFIG)[0]
        promise = choose.held_out(vector, cost, CONFIG)
        optimism.append(best.predicted.tokens_per_pass)
        promised.append(promise.tokens(best.predicted)[0])
        real.append(expected_tokens(best.builder.shape, truth))
    assert np.mean(optimism) > 1.02 * np.mean(real), "the plain prediction is too good"
    assert np.mean(promised) == pytest.approx(np.mean(real), rel=0.04)


def test_the_interval_of_a_speedup_holds_texts_and_costs():
    vector = noisy(6, 4)
    exact = machine("flat:16")
    spread = {
        "plain": [0.9, 1.1],
        "target": [[0.8 * s, 1.2 * s] for s in exact.target_s],
        "draft": [[0.04, 0.06]] * 2,
    }
    best = choose.candidates(vector.plan, exact, CONFIG)[0]
    promise = choose.held_out(vector, exact, CONFIG)
    narrow, wide = (
        promise.speedup(best, exact),
        promise.speedup(best, replace(exact, spread=spread)),
    )
    assert narrow[0] == wide[0] and wide[1] < narrow[1] < narrow[0] < narrow[2] <= wide[2]
    assert narrow[0] <= promise.tokens(best.predicted)[0]
    alone = choose.held_out(noisy(1, 4), exact, CONFIG)
    assert alone == choose.HeldOut() and alone.speedup(best, exact)[1:] == (None, None)
