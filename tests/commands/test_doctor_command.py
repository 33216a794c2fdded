"""`doctor` on the command line: where a log comes from, and what is printed and written."""

import io
import json
import sys

import pytest

from specviz.commands.cli import main
from tests.doctor.test_doctor import SAMPLES, SLOWER


def fails(capsys, *arguments):
    assert main(["doctor", *map(str, arguments)]) == 2
    output = capsys.readouterr().err
    assert output.count("\n") == 1, output
    return output


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-8-sig"])
def test_a_file_and_standard_input_give_the_same_report(encoding, tmp_path, capsys, monkeypatch):
    path = tmp_path / "server.log"
    path.write_text(SLOWER, encoding=encoding)  # PowerShell redirects as UTF-16
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOWER.encode() + b"\xff")))
    printed = []
    for source in (str(path), "-"):
        assert main(["doctor", source, "--baseline-log", str(path), "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1]
    assert printed[0]["pays"] is False and printed[0]["baseline"] == 342.2
    assert list(printed[0]["advice"][0]) == ["code", "text", "flag"]


def test_the_table_and_the_advice(capsys):
    assert main(["doctor", str(SAMPLES / "llama.txt"), "--baseline", "60"]) == 0
    out = capsys.readouterr().out
    assert (
        "cost of a step     1.57 plain steps" in out and "drafting           14% of a step" in out
    )
    assert main(["doctor", str(SAMPLES / "vllm.metrics"), str(SAMPLES / "vllm.txt")]) == 0
    assert capsys.readouterr().out.count("vLLM\n") == 1


def test_wrong_use_is_a_sentence(tmp_path, capsys):
    empty = tmp_path / "empty.log"
    empty.touch()
    assert "Recognised are" in fails(capsys, empty)
    assert "baseline must be a number above 0" in fails(
        capsys, SAMPLES / "llama.txt", "--baseline", "0"
    )
    assert "not allowed with" in fails(
        capsys, SAMPLES / "llama.txt", "--baseline", "1", "--baseline-log", empty
    )
