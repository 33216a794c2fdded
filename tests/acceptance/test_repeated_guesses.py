"""Guesses that repeat a mistake, by rule."""

import specviz
from specviz.acceptance.repeated_guesses import repeated, tried_on_text


def test_a_repeated_mistake_is_a_rejected_sibling_with_a_rejected_token():
    parents, tokens = (-1, 0, 0, 0, 0, 4, 4), (9, 4, 5, 4, 6, 4, 4)
    outcome = ("root", "rejected", "rejected", "rejected", "accepted", "rejected", "accepted")
    assert repeated(parents, tokens, outcome) == [3]  # not 5 (another parent), not 6 (accepted)


def test_specinfer_repeats_mistakes_and_sequoia_does_not():
    pair, rules = specviz.toy_pair(vocab=6, closeness=0.3), ("specinfer", "sequoia")
    config = specviz.RunConfig(temperature=0.3, seed=1)
    found = dict(tried_on_text(pair, [0, 1, 2, 3, 4, 5] * 6, config, rules, 4))
    again = {rule: sum(one[rule].outcome.count("repeated") for one in found.values()) for rule in rules}
    assert again["specinfer"] > 0 == again["sequoia"]
    for one in found.values():
        for tried in one.values():
            assert len(tried.tokens) == len(tried.outcome) <= 4
            assert "accepted" not in tried.outcome[:-1]
            assert tried.outcome[-1] != "accepted" or tried.written == tried.tokens[-1]
