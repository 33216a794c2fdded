"""Acceptance by drafter: rows as a run would draw from them, vectors level by level."""

import json

import numpy as np
import pytest

import specviz
from specviz.base.codec import dumps, read
from specviz.drafters.base import open_drafter
from specviz.measure.positions import LEVELS, levels_on_text
from specviz.measure.texts import Text, continuations
from specviz.record import vectors as acceptance
from specviz.record.vector_files import read_vector
from specviz.sampling.distributions import Sampling
from specviz.tree import TokenTree
from tests.acceptance import acceptance_vector

PAIR = specviz.toy_pair(vocab=5, seed=3)
TEXTS = list(
    continuations(PAIR, ["abcab", "bca"], specviz.RunConfig(temperature=1.0, max_new_tokens=20))
)
RULES = {name: rule() for name, rule in specviz.VERIFIERS.items()}


def with_drafter(name, **parameters):
    return specviz.RunConfig(
        temperature=1.0, max_new_tokens=20, drafter=specviz.DRAFTERS[name](**parameters)
    )


@pytest.mark.parametrize("name", specviz.DRAFTERS)
def test_rows_are_those_that_a_fresh_drafter_gives_in_a_tree(name):
    unlearned = {"every": 64} if name == "online" else {}  # nothing is learnt of so short a text
    config, text = with_drafter(name, **unlearned), TEXTS[0]
    drafter = specviz.DRAFTERS[name]()
    found = list(levels_on_text(PAIR, text, config))
    assert [at for at, _, _ in found] == list(range(text.start - 1, len(text.tokens) - 1))
    for number, (at, p, rows) in enumerate(found):
        logits = PAIR.target.logits(text.tokens[: at + 1])
        assert p == pytest.approx(np.exp(logits) / np.exp(logits).sum())
        assert len(rows) == (min(number + 1, LEVELS) if drafter.depends_on_depth else 1)
        for depth, row in enumerate(rows):
            context = text.tokens[: at - depth + 1]
            drafting = open_drafter(config.drafter, PAIR, *PAIR.open(context), context)
            tree = TokenTree(context[-1], start=at - depth)
            for node, token in enumerate(text.tokens[at - depth + 1 : at + 1]):
                tree.add(node, token)
            assert row == pytest.approx(drafting.expand(tree, [depth], Sampling())[0], abs=1e-12)


def test_heads_are_measured_level_by_level_and_say_nothing_below_the_last():
    """Children that cover the vocabulary are always accepted (Sequoia, theorem 3.7), where there
    are any."""
    found = acceptance_vector(
        PAIR, RULES["sequoia"], TEXTS, with_drafter("medusa", heads=3), width=PAIR.vocab_size
    )
    assert found.drafter == "medusa" and found.plan == found.levels and len(found.levels) == LEVELS
    assert found.acceptance == found.levels[0]
    assert [sum(level) for level in found.levels] == pytest.approx([1, 1, 1, 0, 0])
    alike = acceptance_vector(PAIR, RULES["sequoia"], TEXTS, with_drafter("ngram"), width=2)
    assert alike.drafter == "ngram" and alike.levels == () and alike.plan == alike.acceptance


def test_every_level_is_the_mean_over_its_positions():
    config = with_drafter("eagle")
    found = acceptance_vector(PAIR, RULES["target-match"], TEXTS * 60, config, width=2)
    for level in range(LEVELS):
        mass = [
            p[np.argsort(-rows[level], kind="stable")[:2]]
            for text in TEXTS
            for _, p, rows in levels_on_text(PAIR, text, config)
            if level < len(rows)
        ]
        assert found.levels[level] == pytest.approx(np.mean(mass, axis=0), abs=0.04)


def test_where_retrieval_finds_nothing_no_child_is_accepted():
    """Nor is a child drawn that was never seen: with all that were, the acceptance is the target's
    mass on them."""
    config = with_drafter("retrieval", shortest=3)
    rows = [node for text in TEXTS for node in levels_on_text(PAIR, text, config)]
    assert 0 < sum(levels[0].any() for _, _, levels in rows) < len(rows)
    found = acceptance_vector(
        PAIR, RULES["target-match"], TEXTS * 60, config, width=PAIR.vocab_size
    )
    mass = np.mean([p[levels[0] > 0].sum() for _, p, levels in rows])
    assert found.positions == 60 * len(rows) and sum(found.acceptance) == pytest.approx(
        mass, abs=0.02
    )


def test_a_measurement_by_level_survives_json_and_older_ones_are_the_models(tmp_path):
    found = acceptance_vector(PAIR, RULES["sequoia"], TEXTS, with_drafter("medusa"), width=3)
    text = dumps(found, all_digits=True)
    assert read(acceptance.AcceptanceVector, text, "vector") == found
    (tmp_path / "vector.json").write_text(text)
    assert read_vector(tmp_path / "vector.json").plan == found.levels
    old = json.loads(text)
    del old["drafter"], old["levels"], old["by_text"]
    assert read(acceptance.AcceptanceVector, old, "vector").drafter == ""
    with pytest.raises(ValueError, match="levels"):
        read(acceptance.AcceptanceVector, json.loads(text) | {"levels": [[0.9, 0.9]]}, "vector")


def test_a_text_of_one_token_has_no_positions():
    assert list(levels_on_text(PAIR, [1], with_drafter("medusa"))) == []
    assert len(list(levels_on_text(PAIR, Text((1, 2, 3), 2), with_drafter("eagle")))) == 1


@pytest.mark.parametrize("name", specviz.DRAFTERS)
def test_what_is_stored_of_a_drafter_is_sound(name):
    if not (vectors := acceptance.stored(name)):
        assert acceptance.find_acceptance("sequoia", 0.8, name) == acceptance.find_acceptance(
            "sequoia", 0.8
        )
        return
    sequoia, drafter = specviz.BUILDERS["sequoia"](), specviz.DRAFTERS[name]()
    assert acceptance.planned_with(sequoia, drafter, acceptance.EMBEDDED) == ""
    for vector in vectors:
        assert vector.drafter == name and vector.positions >= 1000
        assert vector.parameters == json.loads(json.dumps(drafter.parameters))
        assert bool(vector.levels) == drafter.depends_on_depth
        found = acceptance.find_acceptance(vector.verifier, vector.temperature, name)
        assert found == vector.plan


@pytest.mark.parametrize(
    ("pair", "name"),
    [
        (pair, file.stem)
        for pair, folder in acceptance.STORED.items()
        for file in folder.glob("*.json")
    ],
)
def test_stored_vectors_are_those_of_their_pair_and_drafter(pair, name):
    vectors = acceptance.stored(name, pair)
    assert {(vector.pair, vector.drafter) for vector in vectors} == {(pair, name)}
    assert {0.0, 0.8} <= {vector.temperature for vector in vectors}
    assert acceptance.find_acceptance("sequoia", 0.8, name, pair) in [one.plan for one in vectors]
