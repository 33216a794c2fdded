"""`doctor` on the command line: where a log comes from, and what is printed and written."""

import io
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from specviz import Trace
from specviz.commands.cli import main
from specviz.doctor import sources
from tests.doctor.test_doctor import SAMPLES, SLOWER

FIELDS = [
    "engine", "steps", "drafted_per_step", "acceptance_length", "acceptance_rate", "per_position", "running_requests",
    "throughput", "baseline", "step_price", "speedup", "pays", "lengths", "advice",
]  # fmt: skip
PLACES = {"/file": "file:///etc/passwd", "/ftp": "ftp://127.0.0.1/x", "/loop": "/loop", "/moved": "/log"}


@pytest.fixture
def address():
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302 if self.path in PLACES else 200)
            if self.path in PLACES:
                self.send_header("Location", PLACES[self.path])
            self.end_headers()
            if self.path == "/log":
                self.wfile.write(SLOWER.encode())

        def log_message(self, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def fails(capsys, *arguments):
    assert main(["doctor", *map(str, arguments)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1, said
    return said


def test_a_file_standard_input_and_an_address_say_the_same(tmp_path, capsys, monkeypatch, address):
    path = tmp_path / "server.log"
    path.write_text(SLOWER, encoding="utf-16")  # as PowerShell redirects it
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SLOWER.encode() + b"\xff")))
    printed = []
    for source in (str(path), "-", f"{address}/moved"):
        assert main(["doctor", source, "--baseline-log", str(path), "--json"]) == 0
        printed.append(json.loads(capsys.readouterr().out))
    assert printed[0] == printed[1] == printed[2] and list(printed[0]) == FIELDS
    assert printed[0]["pays"] is False and printed[0]["baseline"] == 342.2
    assert list(printed[0]["lengths"][0]) == ["length", "acceptance_length", "speedup_low", "speedup_high"]
    assert list(printed[0]["advice"][0]) == ["code", "text", "flag"]


def test_only_http_is_fetched_and_only_so_much(capsys, monkeypatch, address):
    for path in ("/file", "/loop"):
        assert "answered with status 302" in fails(capsys, address + path)
    assert "unknown url type" in fails(capsys, f"{address}/ftp")
    assert "'file:///etc/passwd' cannot be read: No such file" in fails(capsys, "file:///etc/passwd")
    monkeypatch.setattr(sources, "MOST", 500)
    assert "must have at most 500 bytes" in fails(capsys, f"{address}/log")
    monkeypatch.undo()
    monkeypatch.setattr(sources, "monotonic", iter([0.0, 1.0 + sources.SECONDS]).__next__)
    assert "did not answer within" in fails(capsys, f"{address}/log")


def test_the_table_the_chart_and_the_advice(capsys):
    assert main(["doctor", str(SAMPLES / "llama.txt"), "--baseline", "60"]) == 0
    said = capsys.readouterr().out
    assert "cost of a step     1.57 plain steps" in said and "1.27 to 1.52" in said and "░" in said
    assert "--spec-draft-n-max 4" in said
    assert main(["doctor", str(SAMPLES / "sglang.txt")]) == 0
    assert "counts the bonus token" in capsys.readouterr().out


def test_a_request_is_written_as_a_run(tmp_path, capsys):
    path = tmp_path / "run.json"
    assert main(["doctor", str(SAMPLES / "vllm_requests.jsonl"), "--out", str(path)]) == 0
    assert len(Trace.from_json(path.read_text()).steps) == 5
    assert main(["replay", str(path), "--steps"]) == 0
    assert "2 of 3 drafted nodes accepted" in capsys.readouterr().out
    assert "A run needs steps" in fails(capsys, SAMPLES / "llama.txt", "--out", tmp_path / "other.json")


def test_wrong_use_is_a_sentence(tmp_path, capsys):
    empty = tmp_path / "empty.log"
    empty.touch()
    assert "Recognised are" in fails(capsys, empty)
    assert "baseline must be a number above 0" in fails(capsys, SAMPLES / "llama.txt", "--baseline", "0")
    assert "cannot be combined" in fails(capsys, SAMPLES / "llama.txt", "--baseline", "1", "--baseline-log", empty)
