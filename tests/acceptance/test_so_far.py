"""What is known so far, and at the end."""

from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.acceptance.on_nodes import draft_uncertainty, rates_so_far, rejection_rates, uncertainty_so_far
from specviz.acceptance.on_text import own_texts
from specviz.acceptance.progress import SoFar, whole

PAIR = specviz.toy_pair(vocab=6)
CONFIG = specviz.RunConfig(temperature=1.0, max_new_tokens=12)


def test_the_whole_is_what_the_last_news_knows():
    assert whole(SoFar(done, 3, known) for done, known in enumerate((None, 4, 0), 1)) == 0
    for nothing in ([], [SoFar(1, 1, None)]):
        with pytest.raises(ValueError, match="ended without a result"):
            whole(nothing)


def test_own_texts_come_one_by_one_each_with_a_seed_of_its_own():
    every = own_texts(PAIR, ["abc", "abc"], CONFIG)
    first = next(every)
    config = replace(CONFIG, prompt="abc").plainly()
    assert list(first) == [*PAIR.encode("abc"), *specviz.run(PAIR, config).tokens]
    assert list(next(every)) == [*PAIR.encode("abc"), *specviz.run(PAIR, replace(config, seed=config.seed + 1)).tokens]


def test_a_measurement_of_nodes_that_is_stopped_is_one_of_fewer_texts():
    texts = [[1], *own_texts(PAIR, ["abc", "bca"], CONFIG)]
    (done, of, rates), full = rates_so_far(PAIR, texts, CONFIG, (1, 2, 3))
    assert (done, of) == (2, 3), "a text without a position says nothing"
    assert full.known == rejection_rates(PAIR, texts, CONFIG, (1, 2, 3)) and rates.positions < full.known.positions
    assert rates == rejection_rates(PAIR, texts[:2], CONFIG, (1, 2, 3))
    (_, _, uncertainty), full = uncertainty_so_far(PAIR, texts, CONFIG)
    assert full.known == draft_uncertainty(PAIR, texts, CONFIG) and uncertainty == draft_uncertainty(
        PAIR, texts[:2], CONFIG
    )
    assert (
        uncertainty.entropy == full.known.entropy[: len(uncertainty.entropy)] and np.isfinite(uncertainty.entropy).all()
    )
