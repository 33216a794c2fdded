"""Drafters where a text begins, where it ends, and where one document of a library ends and the
next begins."""

import numpy as np
import pytest

import specviz
from specviz.drafters.retrieval import BREAK, Retrieval, RetrievalSession, library
from specviz.tree import Topology


@pytest.mark.parametrize("drafter", specviz.DRAFTERS)
@pytest.mark.parametrize("builder", ["chain", "sequoia", "dyspec", "lookahead"])
def test_a_text_may_begin_with_one_token_and_end_anywhere(drafter, builder):
    pair, rule = specviz.toy_pair(vocab=6, seed=3), specviz.VERIFIERS["target-match"](keyed=True)
    pair.max_positions = 24
    for count, most, stop in (
        (1, 1, "length"),
        (1, 9, "length"),
        (23, 9, "context"),
        (17, 9, "context"),
    ):
        prompt = [place % 6 for place in range(count)]
        config = specviz.RunConfig(prompt, builder, rule, 1.0, max_new_tokens=most, drafter=drafter)
        trace = specviz.run(pair, config)
        assert trace.tokens == specviz.autoregress(pair, config).tokens
        assert len(trace.tokens) == min(most, 24 - count) and trace.stop == stop
        assert all(step.start + Topology(step.parents).depth.max() < 24 for step in trace.steps)


def test_nothing_is_found_across_the_end_of_a_document():
    pair = specviz.toy_pair(vocab=6)
    pair.library = [("one.txt", "aab"), ("two.txt", "cab")]
    stored = library(pair)
    a, b, c = pair.encode("abc")
    assert stored.tokens.tolist() == [a, a, b, BREAK, c, a, b, BREAK]
    for path, length, following in (
        ((a, b), 2, []),
        ((b, c), 1, [a]),
        ((c, a), 2, [b]),
        ((a,), 1, [a, b, b]),
    ):
        drafting = RetrievalSession(Retrieval(shortest=1), stored, path, 6)
        found = drafting.look_up(())
        assert found.length == length and sorted(found.tokens.tolist()) == following
        assert all(stored.tokens[place] >= 0 for place in found.places)
    assert not np.any(RetrievalSession(Retrieval(shortest=3), stored, [a, b], 6).look_up(()).length)
