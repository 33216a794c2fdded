"""Stored runs: what a visitor may save, for how long, and how much of it there can be."""

import json
import zlib
from dataclasses import replace

import httpx
import pytest

import specviz
from app.machine import limits
from app.machine.queue import Visitor
from app.parts import run_store
from app.parts.run_store import RunStore
from tests.loops import in_a_loop

CONFIG = specviz.RunConfig("abc", max_new_tokens=30)
A, B = Visitor("10.0.0.1", "a"), Visitor("10.0.0.2", "b")


@pytest.fixture
def store(monkeypatch):
    fresh = RunStore()
    monkeypatch.setattr(run_store, "STORE", fresh)
    return fresh


def trace(**changes):
    return specviz.run(specviz.toy_pair(vocab=12), replace(CONFIG, **changes))


def packed(**changes):
    return zlib.compress(trace(**changes).to_json().encode())


def saved(name, kind="json"):
    return json.loads(in_a_loop(run_store.save({"run": name, "kind": kind})))


def test_a_run_can_be_saved_while_it_runs_and_afterwards(store):
    whole, pair = trace(), specviz.toy_pair(vocab=12)
    run = store.begin("run x", specviz.run(pair, CONFIG, ()))
    assert saved("run x") == {"error": run_store.GONE}, "it has no step yet"
    run.steps += whole.steps[:2]
    part = specviz.Trace.from_json(saved("run x")["text"])
    assert part.stop == "stopped" and len(part.steps) == 2
    run.steps += whole.steps[2:]
    run.ended = True
    store.begin("run y", specviz.run(pair, CONFIG, ()))  # packs the one before
    assert specviz.Trace.from_json(saved("run x")["text"]).text == whole.text
    assert 'id="run"' in saved("run x", "html")["text"]


@pytest.mark.parametrize(
    "data", [None, {"run": "x", "kind": "py"}, {"kind": ["html"]}, {"run": [], "kind": "json"}]
)
def test_a_save_that_makes_no_sense_gets_a_sentence(store, data):
    assert set(json.loads(in_a_loop(run_store.save(data)))) == {"error"}


def test_a_file_is_opened_and_can_be_saved_again(serve):
    text, header = trace().to_json(), {"content-type": "application/json"}
    with httpx.Client(base_url=serve(), timeout=120, trust_env=False, headers=header) as client:
        message = client.post("open?session=s", content=text).json()
        assert message["head"]["recorded"] and message["run"].startswith("file ")
        assert saved(message["run"])["text"] == text
        assert client.post("open?session=s", content=text).json()["run"] != message["run"], (
            "it is shown anew"
        )
        for body in (
            b"",
            b"{",
            b"\xff",
            b"[" * 10**6,
            text[:-9].encode(),
            b"x" * limits.OPENED_BODY,
        ):
            answer = client.post("open", content=body).json()
            assert set(answer) == {"error"} and answer["error"].startswith(
                "This file was not opened. "
            )


def test_the_oldest_of_who_has_most_makes_room():
    run = packed()
    store = RunStore(limit=4 * len(run) + 500)
    store.put("run", run, A)
    for number in range(20):
        store.put(f"file {number}", packed(seed=number), Visitor(B.address, f"{number % 2}"))
    assert store.text("run") and store.text("file 19") and store.size <= 4 * len(run) + 500
    with pytest.raises(ValueError, match="no longer stored"):
        store.text("file 0")


def test_nothing_stays_for_long(monkeypatch):
    store, now = RunStore(), [0.0]
    monkeypatch.setattr(run_store, "monotonic", lambda: now[0])
    store.put("run a", packed(), A)
    now[0] = run_store.SECONDS + 1
    with pytest.raises(ValueError, match="no longer stored"):
        store.text("run a")


def test_names_cannot_be_guessed():
    names = {run_store.new_name("run") for _ in range(1000)}
    assert len(names) == 1000 and all(len(name) >= 20 for name in names)
