"""The report of a GPU, tried on a CPU with tiny models: every part leaves lines, and a fault leaves
its own."""

import logging

import numpy as np
import pytest

from specviz.passes import graphs
from tests.gpu_report import __main__ as report
from tests.gpu_report import fast, pairs, right
from tests.gpu_report.lines import Lines, Setting, is_wrong, read
from tests.gpu_report.tables import markdown

pytestmark = pytest.mark.adapter
SETTING = Setting("cpu", tiny=True)


@pytest.fixture(scope="module")
def pair():
    with pytest.MonkeyPatch.context() as patch:
        for module in (pairs.direct, pairs.eagle3):  # changed by the report, and put back here
            patch.setattr(module, "compiler_for", module.compiler_for)
        yield pairs.load(SETTING, "random:tiny", "random:tiny")


@pytest.fixture
def file(tmp_path, pair, monkeypatch):
    monkeypatch.setattr(right, "load", lambda *_: pair)
    monkeypatch.setattr(fast, "load", lambda *_: pair)
    return tmp_path / "report.jsonl"


def test_every_part_leaves_lines_and_tables(file):
    for name, part in report.TINY.items():
        report.run_here(name, part, file, SETTING)
    lines = read(file)
    assert not list(filter(is_wrong, lines))
    checks = {(line["part"], line["check"].split(",")[0]) for line in lines}
    assert {"machine", "copy", "product", "part"} == {c for p, c in checks if p == "machine"}
    found = {check for part, check in checks if part == "right-tiny"}
    assert found >= {"logits of 6 nodes", "graph of 5 nodes", "greedy", "T 1 as on the CPU"}
    found = {check for part, check in checks if part == "fast-tiny"}
    assert found >= {
        "first steps",
        "passes",
        "runs",
        "costs",
        "transformers",
        "growing text",
        "kernels of 4 nodes",
    }
    text = markdown(lines)
    assert "random:tiny" in text and "Random weights" in text and "no**" not in text
    assert (file.parent / "profile-random-tiny-random-tiny.json").is_file()


def test_a_wrong_mask_and_a_wrong_scale_are_reported(file, pair, monkeypatch):
    lines = Lines(file, "right")
    honest = graphs.StaticPass.fill

    def blind(self, work):
        honest(self, work)
        self.masked[:, : work.end] = False

    with monkeypatch.context() as patch:
        patch.setattr(graphs.StaticPass, "fill", blind)
        lines.check("graph", right.graph, pair, 5, False)
        lines.check("logits", right.logits, pair, 6)
    with monkeypatch.context() as patch:
        patch.setattr(pair.target.direct, "scale", 2 * pair.target.direct.scale)
        lines.check("logits", right.logits, pair, 6)
    lines.check("logits", right.logits, pair, 6)
    assert [line["ok"] for line in read(file)] == [False, False, False, True]
    assert markdown(read(file)).count("largest difference") > 1


def test_other_texts_are_reported(file, pair, monkeypatch):
    monkeypatch.setattr(right, "_continue", lambda *_: [1, 2, 3, 4])
    lines = Lines(file, "right")
    lines.check("greedy", right.greedy, pair, ["ab"], "chain:depth=2", "model", 4)
    assert [line["ok"] for line in read(file)] == [False]


def test_a_part_that_fails_leaves_its_error_and_the_next_one_starts(tmp_path, monkeypatch, capsys):
    parts = {
        "unknown": report.Part(60, "tables.nothing"),
        "killed": report.Part(0, "about.about"),
    }
    monkeypatch.setattr(report, "TINY", parts | {"machine": report.TINY["machine"]})
    code = report.main(["--device", "cpu", "--tiny", "--out", str(tmp_path)])
    lines = read(tmp_path / "report.jsonl")
    errors = {line["part"]: line["error"] for line in lines if "error" in line}
    assert code == 1 and set(errors) == {"unknown", "killed"}
    assert {line["check"] for line in lines if line["part"] == "machine"} >= {"copy", "product"}
    assert "stopped after 0 s" in capsys.readouterr().out


def test_warnings_are_lines_and_a_number_that_is_none_is_left_out(tmp_path):
    lines = Lines(tmp_path / "report.jsonl", "right")
    with lines.warnings():
        logging.getLogger("specviz.passes.graphs").warning("Passes run without CUDA graphs")
    lines.check("nan", lambda: {"largest": np.nan})
    warning, wrong = read(lines.file)
    assert warning["text"].startswith("Passes run") and wrong["largest"] is None
