"""The command line: what it prints, and one sentence with exit code 2 for what it cannot do."""

import json
import sys

import networkx
import pytest

import specviz
from specviz.commands import COMMANDS
from specviz.commands.cli import main
from specviz.proof import greedy, search


def test_check_prints_rows(capsys, monkeypatch):
    monkeypatch.setattr(greedy, "EVERY", 1)
    monkeypatch.setattr(greedy, "RANDOM_TREES", 5)
    monkeypatch.setattr(search, "SHAPES", search.SHAPES[:1])
    monkeypatch.setattr(search, "DEEP", ())
    assert (
        main(
            [
                "check",
                "--builder",
                "chain",
                "--verifier",
                "specinfer",
                "--drafter",
                "model",
                "--json",
            ]
        )
        == 0
    )
    rows = json.loads(capsys.readouterr().out)
    plain = [row for row in rows if row["draft_temperature"] is None]
    assert {(row["scheme"], row["lossless"]) for row in plain} == {
        ("iid", True),
        ("distinct", True),
        ("top-draw", True),
        ("top", False),
        ("declared", True),  # the search for a counterexample on random trees
        ("any", True),  # the same at temperature 0
    }
    assert all({"builder", "verifier", "scheme", "lossless", "error"} <= set(row) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "--drafter", "modle"], "Did you mean 'model'?"),
        (
            ["bench", "--builder", "chain:4"],
            "--builder must be written like sequoia:size=16,depth=6",
        ),
        (["calbrate"], "Did you mean 'calibrate'?"),
        (["generate", "--prompt", "a", "--target", "x"], "--target needs a draft"),
        (["generate", "--prompt", "a", "--builder", "chain:dept=4"], "Did you mean 'depth'?"),
        (
            ["generate", "--prompt", "a", "--builder", "sequoia:acceptance=/nowhere.json"],
            "cannot be read",
        ),
        (
            ["bench", "--same-text", "--temperature", "1"],
            "--temperature is not used with --same-text",
        ),
        (["bench", "grid.toml", "--builder", "chain"], "--builder is not used with a grid file"),
        (["replay", "run.json", "--steps", "--html", "x.html"], "cannot be combined"),
        (
            ["generate", "--prompt", "a", "--trace", "/nowhere/at/all/run.json"],
            "there is no folder",
        ),
        (["generate", "--prompt", "a", "--verifier", "block"], "is defined for chains"),
        (["generate", "--prompt", "a", "--trace", ""], "--trace must not be empty"),
        (
            ["generate", "--prompt", "a", "--builder", "chain", "--builder", "sequoia"],
            "more than once",
        ),
        (["check", "--draft", "model"], "unrecognized arguments: --draft"),
        (["calibrate", "--seconds", "nan"], "--seconds"),
        (["calibrate", "--text", "a", "--prompts", "b"], "--prompts"),
        (["calibrate", "--positions", "0"], "--pos"),
        (["calibrate", "--verifier", "exact-match", "--temperature", "1"], "temperature"),
        (["advise", "--target", "x"], "--target"),
        (["advise", "--draft", "org/small"], "--target"),
        (["advise", "--machine", "oak"], "machine"),
        (["advise", "--texts", "0"], "--texts"),
        (["train", "--text", __file__, "--out", "/tmp/x", "--seed", "-1"], "seed must be"),
        (
            ["train", "--text", __file__, "--out", "/tmp/x", "--code", "/nowhere"],
            "code must be a folder",
        ),
        (
            ["train", "--drafter", "eagle", "--target", "x", "--code", "y"],
            "--code is not used with --drafter",
        ),
        (
            ["train", "--text", "x", "--out", "y", "--heads", "2"],
            "--heads is not used without --drafter medusa",
        ),
        (
            ["train", "--drafter", "eagle", "--target", "x", "--heads", "2"],
            "without --drafter medusa",
        ),
    ],
)
def test_bad_values_get_one_sentence(capsys, monkeypatch, arguments, words):
    for module in ("specviz.models.pair", "specviz.training.pair", "specviz.training.heads"):
        monkeypatch.setitem(sys.modules, module, None)  # none of this may wait for models
    assert main(arguments) == 2
    error = capsys.readouterr().err
    assert words in error and error.count("\n") == 1


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_help_with_an_example(capsys, command):
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert (
        stopped.value.code == 0
        and f"example:\n  python -m specviz {command}" in capsys.readouterr().out
    )


@pytest.fixture
def trace_file(tmp_path):
    path = tmp_path / "run.json"
    trace = specviz.run(
        specviz.toy_pair(vocab=6), specviz.RunConfig("abc", "k-ary", max_new_tokens=12)
    )
    path.write_text(trace.to_json())
    return path


def test_replay_shows_the_text_and_each_step(capsys, trace_file):
    trace = specviz.Trace.from_json(trace_file.read_text())
    assert main(["replay", str(trace_file)]) == 0
    assert f"abc{trace.text}\n" in capsys.readouterr().out
    assert main(["replay", str(trace_file), "--steps"]) == 0
    assert capsys.readouterr().out.count("drafted nodes accepted") == len(trace.steps)


def test_a_step_with_a_bonus_that_it_did_not_write_gets_a_sentence(capsys, trace_file):
    data = json.loads(trace_file.read_text())
    data["steps"][-1] |= {"emitted": [], "emitted_texts": [], "bonus": 1}
    trace_file.write_text(json.dumps(data))
    assert main(["replay", str(trace_file), "--steps"]) == 2
    assert "bonus" in capsys.readouterr().err
    trace_file.write_bytes(b"\xff")
    assert main(["replay", str(trace_file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_replay_writes_one_page_that_fetches_nothing(capsys, trace_file, tmp_path):
    out = tmp_path / "run.html"
    assert main(["replay", str(trace_file), "--html", str(out)]) == 0
    page = out.read_text()
    assert page.startswith("<!doctype html>") and "default-src 'none'" in page
    assert (
        "src=" not in page.replace("img-src", "") and "<link" not in page and "@import" not in page
    )


def test_replay_writes_the_trees_as_a_graph(trace_file, tmp_path):
    out = tmp_path / "run.graphml"
    assert main(["replay", str(trace_file), "--graphml", str(out)]) == 0
    nodes = sum(len(step["parents"]) for step in json.loads(trace_file.read_text())["steps"])
    graph = networkx.read_graphml(out)
    assert len(graph) == nodes and networkx.is_arborescence(graph)


def test_bench_prints_a_table_of_what_its_options_say(capsys, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "specviz.models.pair.load_pair", lambda **options: specviz.toy_pair(vocab=12)
    )
    prompts = tmp_path / "mine.txt"
    prompts.write_text("abc\ncab\n")
    asked = ["bench", "--builder", "chain", "--verifier", "typical", "--temperature", "1"]
    assert main([*asked, "--prompts", str(prompts), "--max-new-tokens", "8"]) == 0
    out = capsys.readouterr().out
    assert "times plain" in out and out.count("lossy") == 0 and out.count("typical") == 1
    assert (
        main([*asked, "--verifier", "sequoia", "--prompts", str(prompts), "--max-new-tokens", "8"])
        == 0
    )
    assert capsys.readouterr().out.count("lossy") == 1, (
        "it is marked where it is not the same for all"
    )
    rows = ["--top-k", "1", "--draft-temperature", "1", "--top-p", "1", "--json"]
    assert main([*asked, *rows, "--prompts", str(prompts), "--max-new-tokens", "8"]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (
        outcome["cell"]["top_k"] == outcome["cell"]["draft_temperature"] == 1
        and "top_p" not in outcome["cell"]
    )
