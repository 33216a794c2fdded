"""Sweeps: grids, their file of results, and a cluster that is not there."""

import json
import sys
import types

import pytest

import specviz
from specviz.benchmarks.sweep import Results, here, measured, on_ray
from specviz.benchmarks.sweep_grid import cells_of, key_of, read_grid
from specviz.commands.cli import main

GRID = {
    "pairs": ["toy"], "builders": ["chain", "k-sequences", "plain"], "verifiers": ["specinfer", "block"],
    "temperatures": [1.0], "sizes": [7], "max_new_tokens": 8, "prompts": ["abc"],
}  # fmt: skip


def cells(**changes):
    return cells_of(GRID | changes, [])[0]


def test_a_grid_is_every_combination_once():
    found = cells(temperatures=[1, 1.0, 0.5], builders=["chain", "plain", "chain"], kinds=["bench", "calibrate"])
    kinds = [(cell["kind"], cell.get("builder")) for cell in found]
    assert kinds.count(("bench", "chain")) == 4, "two rules at two temperatures"
    assert kinds.count(("bench", "plain")) == 2, "no rule and no size concern plain decoding"
    assert kinds.count(("calibrate", None)) == 4, "no builder concerns an acceptance vector"
    assert len({key_of(cell) for cell in found}) == len(found) == 10


def test_outcomes_are_those_of_single_runs():
    outcomes = list(here(cells(), ["abc"]))
    by_cell = {(o["cell"]["builder"], o["cell"]["verifier"]): o for o in outcomes}
    config = specviz.RunConfig(
        "abc", specviz.BUILDERS["chain"](depth=6), specviz.VERIFIERS["specinfer"](), 1.0, max_new_tokens=8, seed=0
    )
    trace = specviz.run(specviz.toy_pair(vocab=12), config)
    result = by_cell["chain", "specinfer"]["result"]
    assert result["tokens_per_pass"] == trace.tokens_per_pass and result["steps"] == len(trace.steps)
    assert result["lossless"] and result["tokens_per_s"] > 0
    assert by_cell["plain", "plain"]["result"]["tokens_per_pass"] == 1
    assert "defined for chains" in by_cell["k-sequences", "block"]["impossible"]


def test_rows_say_how_much_faster_than_plain_decoding_and_where_they_were_measured():
    found = cells(builders=["chain", "plain"], verifiers=["specinfer"], drafters=["model", "ngram"])
    assert [cell.get("drafter") for cell in found] == ["model", "ngram", None]
    model, ngram, plain = (measured(cell, ["abc", "cab"])["result"] for cell in found)
    assert model["tokens_per_pass"] != ngram["tokens_per_pass"]
    for result in (model, ngram):
        assert result["speedup"] > 0 and result["speedup_margin"] is not None and result["plain_tokens_per_s"] > 0
    assert plain["speedup"] == 1
    assert model["machine"][2] >= 1 and model["version"] == specviz.__version__ and {"dtype", "threads"} <= set(model)


def test_calibration_is_a_kind_of_cell():
    (cell,) = cells(kinds=["calibrate"], verifiers=["sequoia"], width=3)
    result = measured(cell, ["abc", "cab"])["result"]
    assert len(result["acceptance"]) == 3 and result["verifier"] == "sequoia"
    assert result["positions"] == 2 * 8  # what was written after the prompts, not the prompts
    (greedy,) = cells(kinds=["calibrate"], verifiers=["exact-match"])
    assert "set the temperature to 0" in measured(greedy, ["abc"])["impossible"]


def test_a_builder_without_a_size_is_told_and_a_failure_does_not_end_the_sweep():
    branching, lost = cells(builders=["branching"], verifiers=["specinfer"]), cells(pairs=[{"target": "/nowhere"}])
    assert "omit sizes" in measured(branching[0], ["abc"])["impossible"]
    assert "/nowhere" in measured(lost[0], ["abc"])["failed"]


# ---- the file ----


def line(cell, **outcome):
    return json.dumps({"cell": cell} | outcome) + "\n"


def test_only_what_is_not_there_is_measured(tmp_path, capsys):
    grid, out = tmp_path / "grid.json", tmp_path / "grid.results.jsonl"
    grid.write_text(json.dumps(GRID))
    assert main(["sweep", str(grid)]) == 0
    first = out.read_text()
    assert len(first.splitlines()) == 5
    capsys.readouterr()
    assert main(["sweep", str(grid), "--json"]) == 0
    printed = capsys.readouterr()
    assert out.read_text() == first and "5 of them" in printed.err
    assert [json.dumps(outcome) for outcome in json.loads(printed.out)] == first.splitlines()
    grid.write_text(json.dumps(GRID | {"temperatures": [1.0, 0.5]}))
    assert main(["sweep", str(grid)]) == 0
    assert out.read_text().startswith(first) and len(out.read_text().splitlines()) == 10


def test_a_sweep_goes_on_after_a_kill(tmp_path, monkeypatch, capsys):
    """The kill comes in the third cell; the line of the second was cut off as a power failure would."""
    grid, out = tmp_path / "grid.json", tmp_path / "out.jsonl"
    grid.write_text(json.dumps(GRID))
    seen = []

    def killed(cell, prompts):
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(cell)
        return measured(cell, prompts)

    monkeypatch.setattr("specviz.benchmarks.sweep.measured", killed)
    assert main(["sweep", str(grid), "--out", str(out)]) == 130
    monkeypatch.undo()
    kept, cut = out.read_bytes().splitlines(keepends=True)
    out.write_bytes(kept + cut[: len(cut) // 2])
    assert main(["sweep", str(grid), "--out", str(out)]) == 0
    lines = out.read_bytes().splitlines(keepends=True)
    assert lines[0] == kept and len(lines) == 5
    assert [json.loads(text)["cell"] for text in lines] == cells()


def test_a_failed_cell_is_tried_again_and_the_last_outcome_counts(tmp_path):
    one, two, three, *_ = cells()
    path = tmp_path / "out.jsonl"
    path.write_text(line(one, failed="no memory") + line(two, impossible="so") + line(three, failed="x"))
    Results(path).add({"cell": three, "result": {}})
    found = Results(path)
    assert [found.lacks(cell) for cell in (one, two, three)] == [True, False, False]


@pytest.mark.parametrize("rest", ['{"cell": {"a": 1}', '{"cell": {}, "result": {}}', "\x00\x00", '{"ce'])
def test_a_cut_off_last_line_is_taken_away(tmp_path, rest):
    path, (one, *_) = tmp_path / "out.jsonl", cells()
    path.write_text(line(one, result={}) + rest)
    assert list(Results(path).outcomes) == [key_of(one)]
    assert path.read_text() == line(one, result={})


@pytest.mark.parametrize("rest", ["[1]\n", '{"x": 1}\n', "my notes", '{"cell": {}, "result": {"steps": 1e999}}\n'])
def test_a_last_line_of_another_kind_is_left_alone(tmp_path, rest):
    path, (one, *_) = tmp_path / "out.jsonl", cells()
    path.write_text(line(one, result={}) + rest)
    with pytest.raises(ValueError, match="damaged in line 2"):
        Results(path)
    assert path.read_text() == line(one, result={}) + rest


def test_a_file_of_another_kind_is_left_alone(tmp_path, capsys):
    path, grid = tmp_path / "notes.txt", tmp_path / "grid.json"
    path.write_text("dear diary\nnothing happened\n")
    grid.write_text(json.dumps(GRID))
    assert main(["sweep", str(grid), "--out", str(path)]) == 2
    assert "damaged in line 1" in capsys.readouterr().err
    assert path.read_text() == "dear diary\nnothing happened\n"


# ---- what a grid must be ----


def test_toml_and_json_say_the_same(tmp_path):
    toml, other = tmp_path / "a.toml", tmp_path / "a.json"
    toml.write_text('pairs = ["toy"]\nsizes = [4]\nbuilders = ["chain:depth=3"]\n')
    other.write_text('{"pairs": ["toy"], "sizes": [4], "builders": ["chain:depth=3"]}')
    assert read_grid(toml) == read_grid(other)
    assert cells_of(read_grid(toml), ["abc"])[0][0]["builder"] == "chain:depth=3"


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        ([], "must contain one object"),
        ({"builder": ["chain"]}, "unknown entry 'builder'"),
        ({"builders": "chain"}, "sweep.builders must be a non-empty list"),
        ({"builders": []}, "sweep.builders must be a non-empty list"),
        ({"builders": ["oak"]}, "sweep.builders: builder must be one of"),
        ({"builders": ["chain:depth=0"]}, "sweep.builders: chain.depth must be"),
        ({"builders": [{"name": "chain"}]}, "sweep.builders: builder must be written like sequoia:size=16,depth=6"),
        ({"verifiers": [3]}, "sweep.verifiers: verifier must be written like"),
        ({"pairs": ["nope"]}, "sweep.pairs must contain embedded, toy"),
        ({"pairs": [{"target": "a", "code": "b"}]}, "sweep.pairs must contain"),
        ({"temperatures": [-1]}, "sweep.temperatures: temperature must be 0 or"),
        ({"temperatures": ["hot"]}, "sweep.temperatures: temperature must be 0 or"),
        ({"sizes": [1]}, "sweep.sizes must be whole numbers from 2"),
        ({"kinds": ["paint"]}, "sweep.kinds must be of bench, calibrate"),
        ({"max_new_tokens": 0}, "sweep.max_new_tokens must be a whole number from 1"),
        ({"prompts": [""]}, "sweep.prompts must be a non-empty list"),
    ],
)
def test_a_bad_grid_gets_a_sentence(grid, words):
    with pytest.raises(ValueError) as error:
        cells_of(grid, ["abc"])
    assert words in str(error.value)


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.toml", "pairs = ["), ("a.json", None)])
def test_a_file_that_cannot_be_read_gets_a_sentence(tmp_path, capsys, name, text):
    path = tmp_path / name
    if text is not None:
        path.write_text(text)
    assert main(["sweep", str(path)]) == 2
    assert name in capsys.readouterr().err


# ---- a cluster ----


class FakeRay(types.ModuleType):
    """As much of ray as a sweep uses; a task runs when it is waited for, the last one asked for first."""

    def __init__(self):
        super().__init__("ray")
        self.down, self.asked, self.options_given = False, [], None

    def init(self, address):
        if address == "nowhere:1":
            raise ConnectionError("no answer")

    def put(self, value):
        return value

    def remote(self, function):
        fake = self

        class Task:
            def options(self, **options):
                fake.options_given = options
                return self

            def remote(self, *arguments):
                fake.asked.append(lambda: function(*arguments))
                return fake.asked[-1]

        return Task()

    def wait(self, references, num_returns):
        return references[-1:], references[:-1]

    def get(self, reference):
        if len(self.asked) == 5 and reference is self.asked[1]:
            raise RuntimeError("the machine was lost")
        return reference()

    def shutdown(self):
        self.down = True


def test_a_cluster_measures_the_same_cells(monkeypatch):
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    outcomes = {key_of(o["cell"]): o for o in on_ray(cells(), ["abc"], "head:1", cpus=2)}
    assert fake.down and fake.options_given == {"num_cpus": 2, "num_gpus": 0}
    assert outcomes.keys() == {key_of(cell) for cell in cells()}
    lost = outcomes.pop(key_of(cells()[1]))
    assert lost["failed"] == "RuntimeError: the machine was lost"
    for outcome in here(cells(), ["abc"]):
        other = outcomes.get(key_of(outcome["cell"]), {})
        if "result" in other:
            assert other["result"]["tokens_per_pass"] == outcome["result"]["tokens_per_pass"]


def test_a_cluster_that_is_left_is_shut_down(monkeypatch):
    fake = FakeRay()
    monkeypatch.setitem(sys.modules, "ray", fake)
    outcomes = on_ray(cells(), ["abc"], "head:1")
    next(outcomes)
    outcomes.close()
    assert fake.down


def test_no_ray_and_no_cluster_get_a_sentence(monkeypatch, tmp_path, capsys):
    grid = tmp_path / "grid.json"
    grid.write_text(json.dumps(GRID))
    monkeypatch.setitem(sys.modules, "ray", None)
    assert main(["sweep", str(grid), "--ray", "auto"]) == 2
    assert "--ray needs ray" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ray", FakeRay())
    assert main(["sweep", str(grid), "--ray", "nowhere:1"]) == 2
    assert "no cluster found at 'nowhere:1'" in capsys.readouterr().err
