"""`calibrate` writes one profile, names its texts, and keeps what it has on Ctrl-C."""

import json

import pytest

import specviz
from specviz.commands.cli import main
from specviz.measure import advice, quiet
from specviz.measure.profile import read_profile


@pytest.fixture(autouse=True)
def toy(monkeypatch, tmp_path):
    monkeypatch.setenv("SPECVIZ_CACHE", str(tmp_path / "cache"))
    pair = specviz.toy_pair(vocab=6)
    monkeypatch.setattr("specviz.models.pair.load_pair", lambda *args, **options: pair)
    return pair


FAST = ["--positions", "60", "--width", "4", "--no-costs"]


def test_every_rule_that_suits_is_measured_at_every_temperature(tmp_path, capsys):
    path = tmp_path / "profile.json"
    assert (
        main(["calibrate", "--temperature", "0", "--temperature", "1", *FAST, "--out", str(path)])
        == 0
    )
    profile = read_profile(path)
    rules = {
        one.temperature: [
            row.verifier for row in profile.vectors if row.temperature == one.temperature
        ]
        for one in profile.vectors
    }
    assert rules[0.0] == ["exact-match"] and {"sequoia", "race", "block"} <= set(rules[1.0])
    assert {one.positions for one in profile.vectors} == {60} and profile.costs is None
    assert "built-in prompts" in profile.vectors[0].texts and profile.machine


def test_the_drafter_is_measured_level_by_level(capsys):
    asked = [
        "calibrate",
        "--drafter",
        "medusa:heads=2",
        "--verifier",
        "sequoia",
        "--temperature",
        "0.8",
        "--no-costs",
    ]
    assert main([*asked, "--positions", "30", "--width", "6", "--json"]) == 0
    (vector,) = json.loads(capsys.readouterr().out)["vectors"]
    assert vector["drafter"] == "medusa"
    assert [sum(level) for level in vector["levels"]] == pytest.approx([1, 1, 0, 0, 0])


def test_a_text_is_one_text_and_named(tmp_path, capsys):
    text = tmp_path / "tale.txt"
    text.write_text("abcab" * 20)
    asked = [
        "calibrate",
        "--text",
        str(text),
        "--verifier",
        "sequoia",
        "--temperature",
        "0.8",
        *FAST,
    ]
    assert main([*asked, "--json"]) == 0
    (vector,) = json.loads(capsys.readouterr().out)["vectors"]
    assert (
        vector["texts"] == "windows of tale.txt"
        and len(vector["by_text"]) == 1
        and vector["low"][0] is None
    )
    assert main(asked) == 0
    assert "windows of tale.txt" in capsys.readouterr().out


def test_what_was_measured_is_kept_when_it_is_interrupted(tmp_path, capsys, monkeypatch):
    measure, updates = advice.measure_acceptance, []

    def interrupted(*arguments, **options):
        for update in measure(*arguments, **options):
            updates.append(update)
            yield update
            if len(updates) == 2:
                raise KeyboardInterrupt

    monkeypatch.setattr(advice, "measure_acceptance", interrupted)
    path = tmp_path / "profile.json"
    asked = [
        "calibrate",
        "--temperature",
        "0.8",
        "--positions",
        "900",
        "--width",
        "4",
        "--out",
        str(path),
    ]
    assert main(asked) == 130
    assert read_profile(path).vectors[0].positions == updates[-1].done < 900
    assert "stopped" in capsys.readouterr().err


@pytest.mark.parametrize(("cores", "is_idle"), [(0.0, True), (1.5, False)])
def test_costs_of_a_busy_machine_are_called_so(toy, monkeypatch, capsys, cores, is_idle):
    monkeypatch.setattr(quiet.Watch, "cores", cores)
    asked = ["calibrate", "--verifier", "sequoia", "--temperature", "0.8"]
    assert main([*asked, "--positions", "30", "--seconds", "0.2"]) == 0
    assert ("machine was busy" in capsys.readouterr().out) is not is_idle
