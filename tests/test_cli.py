"""The command line: what it prints, and one sentence with exit code 2 for what it cannot do."""

import json

import pytest

from specviz.cli import main


def test_tree_prints_parents_and_expected_tokens(capsys, tmp_path):
    vector = tmp_path / "vector.json"
    vector.write_text('{"acceptance": [0.6, 0.2]}')
    assert main(["tree", "--acceptance", str(vector), "--size", "4", "--depth", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"parents": [-1, 0, 0, 1], "expected_tokens": pytest.approx(1 + 0.6 + 0.2 + 0.36)}


def test_tree_of_another_static_builder(capsys):
    assert main(["tree", "--builder", "chain", "--depth", "3", "--acceptance", "0.5,0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"parents": [-1, 0, 1, 2], "expected_tokens": 1.875}


def test_tree_per_depth(capsys, tmp_path):
    vector = tmp_path / "vector.json"
    vector.write_text('{"acceptance": [[0.9, 0.0], [0.1, 0.1]]}')
    assert main(["tree", "--acceptance", str(vector), "--size", "3", "--depth", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["expected_tokens"] == pytest.approx(1.99)


def test_check_prints_rows(capsys):
    assert main(["check", "--builder", "chain", "--verifier", "specinfer", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {(row["law"], row["lossless"]) for row in rows} == {("iid", True), ("distinct", True), ("top", False)}
    assert all({"builder", "verifier", "law", "lossless", "error"} <= set(row) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["tree", "--size", "0"], "sequoia.size must be a whole number from 1"),
        (["tree", "--size", "99999"], "sequoia.size must be a whole number from 1 to 1024"),
        (["tree", "--size", "many"], "--size must be a whole number"),
        (["tree", "--builder", "oak"], "--builder must be one of"),
        (["tree", "--builder", "chain", "--size", "4"], "no parameter --size"),
        (["tree", "--acceptance", "/nowhere.json"], "cannot be read"),
        (["tree", "--acceptance", "0.5,7"], "numbers from 0 to 1"),
        (["generate", "--prompt", ""], "prompt must not be empty"),
        (["generate", "--prompt", "a", "--temperature", "-1"], "temperature must be"),
        (["generate", "--prompt", "a", "--temperature", "nan"], "temperature must be"),
        (["generate", "--prompt", "a", "--builder", "k-ary", "--verifier", "oak"], "--verifier must be one of"),
        (["generate", "--prompt", "a", "--max-new-tokens", "0"], "max_new_tokens must be"),
    ],
)  # fmt: skip
def test_bad_values_get_one_sentence(capsys, arguments, words):
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


def test_options_that_are_no_options_get_one_sentence(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["generate", "--prompt", "a", "--temperature", "warm"])
    assert stopped.value.code == 2 and capsys.readouterr().err.count("\n") == 1


@pytest.mark.parametrize("command", ["generate", "tree", "check", "bench"])
def test_every_command_has_help_with_an_example(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0 and f"example:\n  python -m specviz {command}" in capsys.readouterr().out
