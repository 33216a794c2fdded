"""One file holds acceptance and costs, and every command reads it."""

import json

import pytest

import specviz
from specviz.base.files import ACCEPTANCE
from specviz.measure.machines import machine
from specviz.measure.profile import Profile, read_profile
from specviz.record.vector_files import mismatch, read_vector
from tests.acceptance import acceptance_vector

PAIR = specviz.toy_pair(vocab=6)
CONFIG = specviz.RunConfig(temperature=0.8)


@pytest.fixture
def profile():
    vectors = [
        acceptance_vector(
            PAIR,
            specviz.VERIFIERS[rule](),
            [[0, 1, 2, 3], [2, 1, 0]],
            specviz.RunConfig(temperature=t),
            3,
        )
        for rule, t in (("exact-match", 0.0), ("sequoia", 0.8), ("race", 0.8))
    ]
    drafter = CONFIG.drafter.to_dict()
    return Profile(
        "a test",
        {"name": PAIR.info["name"]},
        drafter,
        tuple(vectors),
        machine("a100"),
        ("Linux", "x", 2),
    )


def test_a_profile_survives_its_file_and_a_builder_reads_its_vector(profile, tmp_path):
    path = tmp_path / "profile.json"
    path.write_text(profile.to_json())
    again = read_profile(path)
    for before, after in zip(profile.vectors, again.vectors, strict=True):
        assert after.acceptance == pytest.approx(before.acceptance, abs=1e-6)
    assert json.loads(again.to_json()) == json.loads(profile.to_json())
    for rule, temperature, place in (
        ("sequoia", 0.8, 1),
        ("race", 0.7, 2),
        ("race", 0.0, 0),
        ("spectr", 0.8, 1),
    ):
        assert again.vector(rule, temperature) == again.vectors[place]
        assert read_vector(path, rule, temperature).plan == again.vectors[place].acceptance
    settings = {"verifier": "race", "temperature": 0.8, "drafter": "model"}
    assert mismatch(path, settings) == "" and "drafter" in mismatch(
        path, settings | {"drafter": "ngram"}
    )


def test_a_profile_of_another_pair_or_temperature_is_rejected(profile):
    profile.check(PAIR, CONFIG)
    for pair, config, words in (
        (specviz.toy_pair(vocab=7), CONFIG, "pair"),
        (PAIR, specviz.RunConfig(drafter="ngram"), "drafter"),
        (PAIR, specviz.RunConfig(temperature=0.3), "temperature 0, 0.8"),
    ):
        with pytest.raises(ValueError, match=words):
            profile.check(pair, config)


@pytest.mark.parametrize("name", ["model", "medusa", "ngram"])
def test_what_is_shipped_is_a_profile_without_costs(name):
    shipped = read_profile(ACCEPTANCE / "embedded" / f"{name}.json")
    assert shipped.pair["name"] == "embedded pair" and shipped.costs is None
    assert shipped.vector("sequoia", 0.8).verifier == "sequoia"
    assert {one.temperature for one in shipped.vectors} >= {0.0, 0.8, 1.0}


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"pair": {}, "drafter": {}, "vectors": [1]}'])
def test_other_files_get_a_sentence(tmp_path, text):
    path = tmp_path / "profile.json"
    path.write_text(text)
    with pytest.raises(ValueError, match="profile"):
        read_profile(path)
