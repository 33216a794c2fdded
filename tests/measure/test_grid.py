"""The grid of `bench`: its cells, their outcomes, and the file of results."""

import errno
import json
import os
import re
from itertools import product
from pathlib import Path
from types import SimpleNamespace

import pytest

import specviz
from specviz.base.files import file_lock
from specviz.base.progress import Progress
from specviz.commands.cli import main
from specviz.measure.grid import cells_of, measure_cell, read_grid
from specviz.measure.results import append_result, read_results
from specviz.models.table import toy_pair

EXAMPLES = Path(__file__).parents[2] / "examples"
GRID = {
    "pairs": ["toy"],
    "builders": ["chain", "k-sequences", "plain"],
    "verifiers": ["specinfer", "block"],
    "temperatures": [1.0],
    "sizes": [7],
    "max_new_tokens": 8,
    "prompts": ["abc"],
}


def cells(**changes):
    return cells_of(GRID | changes, [])[0]


def outcomes_here():
    return [measure_cell(cell, ["abc"]) for cell in cells()]


def test_sized_builders_have_about_that_many_nodes():
    for name, size in product(("chain", "k-sequences", "sequoia", "optimal"), (16, 64)):
        cls = specviz.BUILDERS[name]
        assert 0.8 * size <= len(cls(**cls.sized(size)).shape) <= size


def test_a_grid_is_every_combination_once():
    found = cells(temperatures=[1, 1.0, 0.5], builders=["chain", "plain", "chain"])
    names = [cell.data["builder"] for cell in found]
    assert names.count("chain") == 4, "two rules at two temperatures"
    assert names.count("plain") == 2, "no rule and no size concern plain decoding"
    assert len({cell.key for cell in found}) == len(found) == 6


def test_a_pair_may_name_its_own_drafters():
    own = {"target": "smollm2", "drafters": ["eagle"]}
    found = cells(pairs=["toy", own], builders=["chain"], drafters=["model", "ngram"])
    drafters = {(*cell.data["pair"], cell.data["drafter"]) for cell in found}
    assert drafters == {("toy", "model"), ("toy", "ngram"), ("target", "eagle")}
    assert all("drafters" not in cell.data["pair"] for cell in found)


def test_the_menu_and_the_rule_that_suits_are_the_defaults():
    found, prompts = cells_of({"pairs": ["toy"], "temperatures": [0, 0.8]}, ["abc"])
    assert {cell.data["builder"] for cell in found} == {
        name for name, cls in specviz.BUILDERS.items() if not cls.autoregressive
    }
    assert {cell.data["verifier"] for cell in found if cell.data["temperature"] == 0} == {
        "exact-match"
    }
    assert all(
        "size" not in cell.data and cell.data["drafter"] == "model" for cell in found
    ) and prompts == ["abc"]


def test_outcomes_are_those_of_single_runs():
    outcomes = {(o["cell"]["builder"], o["cell"].get("verifier")): o for o in outcomes_here()}
    config = specviz.RunConfig("abc", "chain:depth=6", "specinfer", 1.0, max_new_tokens=8)
    trace = specviz.run(specviz.toy_pair(vocab=12), config)
    result = outcomes["chain", "specinfer"]["result"]
    assert result["tokens_per_pass"] == trace.tokens_per_pass and result["steps"] == len(
        trace.steps
    )
    assert result["lossless"] and result["tokens_per_s"] > 0 and result["tokens_margin"] is None
    assert outcomes["plain", None]["result"]["tokens_per_pass"] == 1
    assert "defined for chains" in outcomes["k-sequences", "block"]["impossible"]


def test_a_result_holds_both_sides_and_where_it_was_measured():
    found = cells(
        builders=["chain"], verifiers=["specinfer"], drafters=["model", "ngram"], top_p=0.9
    )
    model, ngram = (measure_cell(cell, ["abc", "cab"])["result"] for cell in found)
    assert model["tokens_per_pass"] != ngram["tokens_per_pass"]
    for result in (model, ngram):
        assert result["speedup"] == pytest.approx(
            result["tokens_per_s"] / result["plain_tokens_per_s"]
        )
        # The speedup of all is a ratio of sums, which need not lie between those of single prompts.
        assert result["low"] <= result["high"] and result["speedup_margin"] is not None
        assert result["plain_ms"] == pytest.approx(1000 / result["plain_tokens_per_s"])
        assert sum(result["parts_ms"].values()) == pytest.approx(result["step_ms"])
    assert model["machine"][2] >= 1 and model["version"] == specviz.__version__
    assert {"dtype", "offload", "busy_cores"} <= set(model)


def test_a_failure_does_not_end_the_grid():
    branching, lost = (
        cells(builders=["branching"], verifiers=["specinfer"]),
        cells(pairs=[{"target": "/nowhere"}]),
    )
    assert "size" in measure_cell(branching[0], ["abc"])["impossible"]
    assert "/nowhere" in measure_cell(lost[0], ["abc"])["failed"]


def line(cell, **outcome):
    return json.dumps({"cell": cell.data} | outcome) + "\n"


@pytest.fixture
def files(tmp_path):
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps(GRID))
    return grid, tmp_path / "out.jsonl"


def test_only_what_is_missing_is_measured(files, capsys):
    grid, out = files
    assert main(["bench", str(grid), "--out", str(out)]) == 0
    first = out.read_text()
    assert len(first.splitlines()) == 5 and "times plain" in capsys.readouterr().out
    assert main(["bench", str(grid), "--out", str(out), "--json"]) == 0
    printed = capsys.readouterr()
    assert (
        out.read_text() == first
        and "5 of them" in printed.err
        and len(json.loads(printed.out)) == 5
    )
    grid.write_text(json.dumps(GRID | {"temperatures": [1.0, 0.5]}))
    assert main(["bench", str(grid), "--out", str(out)]) == 0
    assert out.read_text().startswith(first) and len(out.read_text().splitlines()) == 10


def test_a_short_table_for_a_document(files, capsys):
    assert main(["bench", str(files[0]), "--markdown"]) == 0
    head, marks, *rows = capsys.readouterr().out.splitlines()
    assert head.startswith("| pair | builder |") and "| times plain |" in head
    assert set(marks) <= set("|-: ") and len(rows) == 4
    assert {line.count("|") for line in (head, marks, *rows)} == {9}


def test_it_goes_on_after_a_kill(files, monkeypatch, capsys):
    """The kill comes in the third cell, and then the disk is full."""
    grid, out = files
    seen = []

    def killed(cell, prompts):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(cell)
        return measure_cell(cell, prompts)

    monkeypatch.setattr("specviz.measure.grid.measure_cell", killed)
    assert main(["bench", str(grid), "--out", str(out)]) == 130
    assert "chain" in capsys.readouterr().out, "what was measured is printed"
    monkeypatch.undo()
    before = out.read_bytes()
    assert len(before.splitlines()) == 2

    def full(handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        assert main(["bench", str(grid), "--out", str(out)]) == 2
    assert out.read_bytes() == before, "no part of a line is written"
    assert main(["bench", str(grid), "--out", str(out)]) == 0
    lines = out.read_bytes().splitlines(keepends=True)
    assert b"".join(lines[:2]) == before and [json.loads(text)["cell"] for text in lines] == [
        cell.data for cell in cells()
    ]


def test_two_processes_do_not_write_one_file(files, capsys):
    with file_lock(files[1]):
        assert main(["bench", str(files[0]), "--out", str(files[1])]) == 2
    assert "another process" in capsys.readouterr().err


def test_only_the_results_are_left_behind(files, monkeypatch):
    """The file grows by a line a cell: what is there is never written again."""
    grid, out = files
    before = {path.name for path in out.parent.iterdir()}
    monkeypatch.setattr("specviz.base.files.write_text", None)
    assert main(["bench", str(grid), "--out", str(out)]) == 0
    assert {path.name for path in out.parent.iterdir()} == before | {out.name}
    inode = out.stat().st_ino
    append_result(out, {"cell": {}, "failed": "no memory"})
    assert out.stat().st_ino == inode


def test_a_damaged_result_is_a_sentence(files, capsys):
    grid, out = files
    (outcome, *_) = outcomes_here()
    for wrong in (
        {},
        outcome["result"] | {"tokens_per_pass": "many"},
        outcome["result"] | {"nodes": 10**400},
    ):
        out.write_text("".join(line(cell, result=wrong) for cell in cells()))
        assert main(["bench", str(grid), "--out", str(out)]) == 2
        assert re.search("Remove (its|that) line", capsys.readouterr().err)


def test_a_failed_cell_is_tried_again_and_the_last_outcome_counts(files):
    grid, out = files
    one, *others = cells()
    written = [
        line(others[0], failed="no memory"),
        *(line(cell, impossible="so") for cell in others),
    ]
    out.write_text("".join([*written, line(one, failed="no memory")]))
    assert main(["bench", str(grid), "--out", str(out)]) == 0
    *before, last = map(json.loads, out.read_text().splitlines())
    assert len(before) == len(written) + 1 and last["cell"] == one.data and "result" in last


def test_a_result_begins_a_line_of_its_own(tmp_path):
    path, (one, other, *_) = tmp_path / "out.jsonl", cells()
    path.write_text(line(one, result={}).rstrip("\n"))
    append_result(path, {"cell": other.data, "result": {}})
    assert list(read_results(path)) == [one.key, other.key]


@pytest.mark.parametrize(
    "text", ['ONE{"x": 1}\n', "ONEmy notes", 'ONE{"cell": {}, "result": {"a": 1e999}}\n', "{"]
)
def test_a_line_of_another_kind_is_left_alone(tmp_path, text):
    path, (one, *_) = tmp_path / "out.jsonl", cells()
    text = text.replace("ONE", line(one, result={}))
    path.write_text(text)
    with pytest.raises(
        ValueError,
        match=f"damaged in line {text.rstrip().count(chr(10)) + 1}, which is not a result",
    ):
        read_results(path)
    assert path.read_text() == text


def test_toml_and_json_say_the_same(tmp_path):
    toml, other = tmp_path / "a.toml", tmp_path / "a.json"
    toml.write_text('pairs = ["toy"]\nsizes = [4]\nbuilders = ["chain:depth=3"]\n')
    other.write_text('{"pairs": ["toy"], "sizes": [4], "builders": ["chain:depth=3"]}')
    assert read_grid(toml) == read_grid(other)
    assert cells_of(read_grid(toml), ["abc"])[0][0].data["builder"] == "chain:depth=3"
    for path, wrong in ((toml, "pairs = ["), (other, "{")):
        path.write_text(wrong)
        with pytest.raises(ValueError, match=path.name):
            read_grid(path)


@pytest.mark.parametrize(
    ("grid", "name"),
    [
        ([], "object"),
        ({"builder": ["chain"]}, "'builder'"),
        ({"builders": "chain"}, "builders"),
        ({"builders": []}, "builders"),
        ({"builders": ["oak"]}, "builder must"),
        ({"verifiers": [3]}, "verifiers"),
        ({"pairs": ["no"]}, "pairs"),
        ({"pairs": [{"target": "a", "code": "b"}]}, "pairs"),
        ({"sizes": [1]}, "sizes"),
        ({"prompts": [""]}, "prompts"),
        ({"top_p": 2}, "top_p"),
        ({"rounds": 0}, "rounds"),
    ],
)
def test_a_bad_grid_gets_a_sentence(grid, name):
    with pytest.raises(ValueError, match=name):
        cells_of(grid, ["abc"])


def test_a_head_that_came_as_the_draft_is_named(monkeypatch):
    """A pair's own head drafts where the draft model is asked for."""
    pair = toy_pair()
    pair.info = pair.info | {"draft": {"architecture": "EAGLE-3", "name": "tiny"}}
    row = SimpleNamespace(to_dict=dict)
    monkeypatch.setattr("specviz.measure.grid.load_cell_pair", lambda spec: pair)
    monkeypatch.setattr(
        "specviz.measure.grid.time_runs", lambda *arguments: iter([Progress(1, 1, result=[row])])
    )
    pair.head = SimpleNamespace()
    for default in ("eagle", "quantized"):  # the second where passes are compiled
        pair.default_drafter = default
        named = set()
        for cell in cells(drafters=["eagle"], builders=["chain"]):
            named.add(measure_cell(cell, ["abc"])["result"]["drafter"])
        assert named == {"EAGLE-3 head tiny"}


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: path.name)
def test_the_grids_of_the_examples_are_grids(path):
    cells, prompts = cells_of(read_grid(path), ())
    assert len(cells) > 8 and prompts
