"""Ranks of a text's tokens under the draft."""

import numpy as np

import specviz
from specviz.acceptance.draft_ranks import among_best, draft_ranks
from specviz.acceptance.positions import distributions_on_text
from specviz.acceptance.text_units import Written


def test_a_rank_is_the_place_in_the_sorted_row_whatever_the_temperature():
    pair, text = specviz.toy_pair(vocab=9), [0, 3, 1, 8, 2, 2, 5]
    rows = {at: q for at, _, q in distributions_on_text(pair, text, specviz.RunConfig(temperature=1.0))}
    for config in (specviz.RunConfig(temperature=0), specviz.RunConfig(temperature=0.3, top_p=0.5)):
        found = draft_ranks(pair, text, config, best=3)
        assert len(found) == len(text) - 1
        for at, one in enumerate(found):
            order = np.argsort(-rows[at], kind="stable").tolist()
            assert one.rank == order.index(text[at + 1]) + 1
            assert list(one.best) == order[:3] and one.best_probs == tuple(rows[at][order[:3]])


def test_only_what_was_written_counts():
    pair = specviz.toy_pair(vocab=9)
    assert len(draft_ranks(pair, Written([0, 3, 1, 8, 2], 3), specviz.RunConfig())) == 2


def test_among_the_best():
    assert [among_best([1, 2, 2, 7], k) for k in (1, 2, 6, 7)] == [1, 3, 3, 4]
