"""`doctor` on the command line: where a log comes from, and what is printed and written."""

import io
import json
import sys

from specviz.commands.cli import main
from tests.doctor.test_doctor import SAMPLES, SLOWER

FIELDS = [
    "engine", "steps", "drafted_per_step", "acceptance_length", "acceptance_rate", "per_position", "running_requests",
    "throughput", "baseline", "step_price", "speedup", "pays", "lengths", "advice",
]  # fmt: skip


def fails(capsys, *arguments):
    assert main(["doctor", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


def test_a_file_and_standard_input_give_the_same_report(tmp_path, capsys, monkeypatch):
    path = tmp_path / "server.log"
    path.write_text(SLOWER, encoding="utf-16")  # as PowerShell redirects it
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOWER.encode() + b"\xff")))
    printed = []
    for source in (str(path), "-"):
        assert main(["doctor", source, "--baseline-log", str(path), "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1] and list(printed[0]) == FIELDS
    assert printed[0]["pays"] is False and printed[0]["baseline"] == 342.2
    assert list(printed[0]["lengths"][0]) == ["length", "acceptance_length", "speedup_low", "speedup_high"]
    assert list(printed[0]["advice"][0]) == ["code", "text", "flag"]


def test_the_table_the_chart_and_the_advice(capsys):
    assert main(["doctor", str(SAMPLES / "llama.txt"), "--baseline", "60"]) == 0
    said = capsys.readouterr().out
    assert "cost of a step     1.57 plain steps" in said and "1.27 to 1.52" in said and "░" in said
    assert "--spec-draft-n-max 4" in said
    assert main(["doctor", str(SAMPLES / "sglang.txt")]) == 0
    assert "counts the bonus token" in capsys.readouterr().out


def test_wrong_use_is_a_sentence(tmp_path, capsys):
    empty = tmp_path / "empty.log"
    empty.touch()
    assert "Recognised are" in fails(capsys, empty)
    assert "baseline must be a number above 0" in fails(capsys, SAMPLES / "llama.txt", "--baseline", "0")
    assert "cannot be combined" in fails(capsys, SAMPLES / "llama.txt", "--baseline", "1", "--baseline-log", empty)
