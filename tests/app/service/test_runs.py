"""Stored runs: what a visitor may save, for how long, and how much of it there can be."""

import json
import zlib
from dataclasses import replace

import httpx
import pytest

import specviz
from app.service import limits
from app.service import run_store as module
from app.service.run_store import RunStore, new_name
from app.service.service import RunService
from app.tabs.parts.saving import saver
from tests.loops import in_a_loop, one_pair

CONFIG = specviz.RunConfig("abc", max_new_tokens=30)


@pytest.fixture
def service():
    service = RunService(one_pair(specviz.toy_pair))
    yield service
    service.shut_down(0)


def trace(**changes):
    return specviz.run(specviz.toy_pair(vocab=12), replace(CONFIG, **changes))


def packed(**changes):
    return zlib.compress(trace(**changes).to_json().encode())


def saved(service, name, kind="json"):
    return json.loads(in_a_loop(saver(service)({"run": name, "kind": kind})))


def test_a_run_can_be_saved_while_it_runs_and_afterwards(service):
    whole, pair = trace(), specviz.toy_pair(vocab=12)
    run = service.runs.begin(specviz.run(pair, CONFIG, ()))
    assert saved(service, run.name) == {"error": module.GONE}, "it has no step yet"
    run.steps += whole.steps[:2]
    part = specviz.Trace.from_json(saved(service, run.name)["text"])
    assert part.stop == "stopped" and len(part.steps) == 2
    run.steps += whole.steps[2:]
    run.ended = True
    service.runs.end(run)
    assert service.runs.size > 0, "it is packed and counted at its end"
    assert specviz.Trace.from_json(saved(service, run.name)["text"]).text == whole.text
    assert 'id="run"' in saved(service, run.name, "html")["text"]


def test_a_run_loses_no_step_because_another_begins(service):
    whole, pair = trace(), specviz.toy_pair(vocab=12)
    first = service.runs.begin(specviz.run(pair, CONFIG, ()))
    first.steps += whole.steps[:2]
    second = service.runs.begin(specviz.run(pair, CONFIG, ()))
    second.steps += whole.steps[:1]
    service.runs.end(second)
    first.steps += whole.steps[2:]
    service.runs.end(first)
    stored = specviz.Trace.from_json(service.runs.text(first.name))
    assert len(stored.steps) == len(whole.steps)


@pytest.mark.parametrize(
    "data", [None, {"run": "x", "kind": "py"}, {"kind": ["html"]}, {"run": [], "kind": "json"}]
)
def test_a_save_that_makes_no_sense_gets_a_sentence(service, data):
    assert set(json.loads(in_a_loop(saver(service)(data)))) == {"error"}


def test_a_file_is_opened_and_can_be_saved_again(serve, sites):
    text, header = trace().to_json(), {"content-type": "application/json"}
    with httpx.Client(base_url=serve(), timeout=120, trust_env=False, headers=header) as client:
        message = client.post("open?session=s", content=text).json()
        assert message["head"]["recorded"] and message["run"].startswith("file ")
        assert saved(sites[None].service, message["run"])["text"] == text
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


def test_the_oldest_makes_room():
    run = packed()
    store = RunStore(limit=4 * len(run) + 500)
    for number in range(20):
        store.put(f"file {number}", packed(seed=number))
    assert store.text("file 19") and store.size <= 4 * len(run) + 500
    with pytest.raises(ValueError, match="no longer stored"):
        store.text("file 0")


def test_names_cannot_be_guessed():
    names = {new_name("run") for _ in range(1000)}
    assert len(names) == 1000 and all(len(name) >= 20 for name in names)
