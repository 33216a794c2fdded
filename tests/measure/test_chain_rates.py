"""Acceptance by position: marginal and conditional, and the file that travels with a checkpoint."""

import json
from pathlib import Path

import pytest

import specviz
from specviz.commands.cli import main
from specviz.doctor import diagnose
from specviz.measure.profile import read_profile
from specviz.record.chain_rates import conditional_rates, marginal_rates, read_rates
from specviz.record.vector_files import read_vector
from specviz.record.vectors import expected_tokens

SAMPLE = Path(__file__).parents[1] / "doctor" / "cases" / "speculation_profile.json"
DATA = json.loads(SAMPLE.read_text())


def test_marginal_and_conditional_follow_from_each_other():
    marginal = marginal_rates((0.5, 0.6, 0.0, 0.7))
    assert marginal == pytest.approx((0.5, 0.3, 0.0, 0.0))
    assert conditional_rates(marginal) == pytest.approx((0.5, 0.6, 0.0, 0.0))


def test_a_profile_is_a_vector_wherever_one_is_read(capsys):
    """The length of a chain is that of the profile, and nothing is claimed beyond it."""
    vector = read_vector(SAMPLE).plan
    chain = specviz.BUILDERS["chain"](depth=3).shape
    assert expected_tokens(chain, vector) == pytest.approx(2.9255, abs=1e-3)
    deeper = specviz.BUILDERS["chain"](depth=6).shape
    assert expected_tokens(deeper, vector) == expected_tokens(chain, vector)
    profile = read_profile(SAMPLE)
    assert profile.vector("block", 0.8).plan == vector
    builder = ["--builder", f"sequoia:size=4,depth=3,acceptance={SAMPLE}"]
    assert main(["generate", "--prompt", "Once", "--max-new-tokens", "4", *builder]) == 0
    capsys.readouterr()
    advice = ["advise", "--profile", str(SAMPLE), "--machine", "a100", "--no-timing", "--json"]
    assert main(advice) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"]["predicted_tokens_per_pass"][0] == pytest.approx(2.9255, abs=1e-3)
    assert "sampled" not in found["engine_ways"], "the switch was not measured"


def test_calibrate_writes_what_the_others_read(tmp_path, capsys):
    path = tmp_path / "speculation_profile.json"
    arguments = ["--temperature", "0.8", "--verifier", "target-match", "--positions", "60"]
    written = ["--no-costs", "--speculation-profile", str(path)]
    assert main(["calibrate", *arguments, *written]) == 0
    data = json.loads(path.read_text())
    assert data["schema_version"] == "1.0" and data["num_speculative_tokens"] == 5
    (report,) = diagnose(path.read_text())
    assert report.conditional == pytest.approx(data["conditional_accept_rates"])
    assert report.acceptance_length == pytest.approx(data["mean_accept_length"])
    first = read_vector(path).plan[0][0]
    assert f"{first:.3f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"marginal_accept_rates": [0.5, 0.9, 0.1]}, "fall from position to position"),
        ({"marginal_accept_rates": [0.8163, 0.7768, 0.7493]}, "be products of"),
        ({"conditional_accept_rates": [1.2]}, "numbers from 0 to 1"),
        ({"conditional_accept_rates": [True, "a"]}, "numbers from 0 to 1"),
        ({"conditional_accept_rates": []}, "1 to 64 numbers"),
    ],
)
def test_lists_that_are_mixed_up_are_refused(change, words):
    with pytest.raises(ValueError, match="accept_rates") as failed:
        read_rates(DATA | change)
    assert words in str(failed.value)


def test_a_profile_without_rates_is_a_sentence(tmp_path):
    assert read_rates(DATA | {"measured": False}) is None
    path = tmp_path / "p.json"
    path.write_text(json.dumps(DATA | {"measured": False}))
    for read in (read_vector, read_profile):
        with pytest.raises(ValueError, match="was not measured"):
            read(path)
