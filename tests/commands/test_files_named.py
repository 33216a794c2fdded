"""Files that a user names: nothing is lost, nothing is read without end, and nothing commands the
terminal."""

import argparse
import errno
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import specviz
from specviz.base import files
from specviz.commands import COMMANDS
from specviz.commands.cli import _parser, main
from specviz.commands.options import prompts_of

ROOT = Path(__file__).resolve().parents[2]
ESCAPE = "\x1b]0;owned\x07\x9b2J\u202e"


@pytest.fixture(scope="module")
def trace():
    config = specviz.RunConfig("abc", specviz.BUILDERS["k-ary"](), max_new_tokens=12)
    return specviz.run(specviz.toy_pair(vocab=6), config).to_json()


def sentence(capsys, arguments, *words):
    """What a command that must fail with one sentence says."""
    assert main(arguments) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1 and all(word in output for word in words), output
    return output


@pytest.mark.parametrize(
    "arguments", ["replay", "bench --prompts", "bench", "advise --profile", "calibrate --text"]
)
def test_what_has_no_end_is_not_read_until_memory_ends(capsys, monkeypatch, arguments):
    monkeypatch.setattr(files, "MOST_TEXT", 1000)
    monkeypatch.setattr(files.read_text, "__defaults__", (1000,))
    sentence(capsys, [*arguments.split(), "/dev/zero"], "at most", "bytes")


def test_prompts_of_a_json_file_are_its_texts(tmp_path, capsys):
    path = tmp_path / "prompts.json"
    path.write_text(json.dumps(["One\nof two lines", "two"]))
    assert prompts_of(argparse.Namespace(prompts=str(path), column=None)) == [
        "One\nof two lines",
        "two",
    ]
    (tmp_path / "prompts.txt").write_text("a\n\nb\n")
    lines = argparse.Namespace(prompts=str(tmp_path / "prompts.txt"), column=None)
    assert prompts_of(lines) == ["a", "b"]
    for wrong in ('{"a": 1}', "[]", "[1]", '["a", ""]', "no JSON"):
        path.write_text(wrong)
        sentence(capsys, ["bench", "--prompts", str(path)], "--prompts")


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "run.html"
    path.write_text("old")

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ValueError, match="No space left"):
        files.write_text(path, "new")
    assert path.read_text() == "old" and list(tmp_path.iterdir()) == [path], (
        "nothing is left beside it"
    )


def test_a_link_stays_a_link_and_rights_stay(tmp_path):
    real, link = tmp_path / "real.txt", tmp_path / "link.txt"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    files.write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new" and real.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize(
    "command",
    [
        ["generate", "--prompt", "a", "--trace"],
        ["replay", "run.json", "--html"],
        ["bench", "grid.json", "--out"],
    ],
)
def test_a_link_to_itself_and_a_long_path_as_output_are_a_sentence(
    tmp_path, capsys, trace, monkeypatch, command
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "specviz.models.pair", None)  # said before models are loaded
    Path("run.json").write_text(trace)
    Path("grid.json").write_text("{}")
    Path("loop").symlink_to("loop")
    sentence(capsys, [*command, "x" * 5000], "cannot be written")
    sentence(capsys, [*command, "loop"], "cannot be written", "symbolic links")
    with pytest.raises(ValueError, match="cannot be written"):
        files.write_text("loop", "text")
    assert Path("loop").is_symlink()


def test_an_output_that_is_an_input_is_rejected(tmp_path, capsys, trace, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("run.json").write_text(trace)
    Path("link.json").symlink_to("run.json")
    Path("grid.json").write_text("{}")
    Path("vector.json").write_text('{"acceptance": [0.5]}')
    for other in ("run.json", "./run.json", "link.json"):
        sentence(capsys, ["replay", "run.json", "--html", other], "also an input")
    assert Path("run.json").read_text() == trace
    sentence(capsys, ["bench", "grid.json", "--out", "grid.json"], "also an input")
    generate = [
        "generate",
        "--prompt",
        "a",
        "--builder",
        "sequoia:acceptance=vector.json",
        "--trace",
        "vector.json",
    ]
    sentence(capsys, generate, "also an input")


VECTORS = [0.9, 0.2], [[0.5, 0.2], [0.7, 0.4]], [0.01] * 65, [[0.5]] * 65


@pytest.mark.parametrize("vector", VECTORS, ids=["sum", "sum of a level", "numbers", "levels"])
def test_a_vector_that_cannot_be_is_rejected_in_a_file_and_by_both_builders(
    tmp_path, capsys, vector
):
    path = tmp_path / "vector.json"
    path.write_text(json.dumps({"acceptance": vector}))
    for builder in ("sequoia", "optimal"):
        with pytest.raises(ValueError, match="acceptance"):
            specviz.BUILDERS[builder](acceptance=vector)
    sentence(
        capsys,
        ["generate", "--prompt", "a", "--builder", f"sequoia:acceptance={path}"],
        "acceptance",
    )


def test_no_text_of_a_stranger_commands_the_terminal(tmp_path, capsys, trace):
    data = json.loads(trace)
    data |= {"prompt_text": ESCAPE, "stop": ESCAPE}
    data["steps"][0]["emitted_texts"][0] = ESCAPE
    path = tmp_path / "run.json"
    path.write_text(json.dumps(data))
    assert main(["replay", str(path)]) == 0 and main(["replay", str(path), "--steps"]) == 0
    assert main(["replay", "a", ESCAPE]) == 2
    assert main(["bench", "--builder", ESCAPE]) == 2
    assert main(["replay", ESCAPE]) == 2
    output = "".join(capsys.readouterr())
    assert output and not set(output) & set(ESCAPE) - set("]0;owned2J")


def specviz_with(call):
    command = f'"{sys.executable}" -m specviz {call}'
    return subprocess.run(["sh", "-c", command], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.parametrize("call", ["check --table >/dev/full", "bench --help >&-"])
def test_a_full_disk_or_a_closed_output_is_a_sentence(call):
    done = specviz_with(call)
    assert (
        done.returncode == 1 and done.stderr.count("\n") == 1 and "Traceback" not in done.stderr
    ), done.stderr


@pytest.mark.parametrize("call", ["bench --builder sequoia:size=0 2>/dev/full", "oak 2>&-"])
def test_a_bad_value_ends_with_2_where_nobody_can_be_told(call):
    done = specviz_with(call)
    assert done.returncode == 2 and not done.stdout


def options():
    """Command and option of every option there is."""
    for name in COMMANDS:
        (commands,) = (
            a for a in _parser(name)._actions if isinstance(a, argparse._SubParsersAction)
        )
        command = commands.choices[name]
        yield from (
            (name, option)
            for option in command._actions
            if option.option_strings and option.dest != "help"
        )


def test_help_says_meaning_range_and_default():
    for command, option in options():
        where, help = f"{command} {option.option_strings[0]}", option.help or ""
        assert len(help) > 10, where
        if option.nargs != 0 and not option.required:
            assert "default" in help or "required" in help, f"{where}: {help}"
        if option.type not in (None, str, Path):  # a text has no range
            assert any(word in help for word in ("from", " to ", "above")), f"{where}: {help}"
