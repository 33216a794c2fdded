"""What one visitor sends does not stop the page for the others. Order is tested here; `tests/load.py` prints times."""

import json
import os
import signal
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import islice
from time import monotonic, sleep

import httpx
import pytest
from pages import Gated

import specviz
from app import api
from app.machine import engine, request_queue, run_queue
from app.machine.limits import RUNS, SHARE
from app.tabs.labs.microscope import normalised

WAIT, MANY = 300, 45
OTHER = {"X-Forwarded-For": "10.0.0.2"}  # another visitor: uvicorn believes what comes from this machine


@pytest.fixture
def client(serve):
    """A function that serves a pair and returns a client with the page's parts: id of an element, ids of its events."""
    clients = []

    def start(pair=None):
        most = httpx.Limits(max_connections=MANY + 5)
        clients.append(httpx.Client(base_url=serve(pair), timeout=WAIT, trust_env=False, limits=most))
        return clients[-1], clients[-1].get("config").json()

    yield start
    for one in clients:
        one.close()


def component(config, elem_id):
    return next(part["id"] for part in config["components"] if part["props"].get("elem_id") == elem_id)


def the_page_is_answered(client, send):
    """The page is answered while a flood waits for a process that stands still; returns the answers of the flood."""
    request_queue.BESIDE.put("warm", normalised, ("p", [1, 1])).result(WAIT)  # it is there now
    worker = request_queue._worker._process.pid
    with ThreadPoolExecutor(MANY) as threads:
        os.kill(worker, signal.SIGSTOP)
        try:
            sent = [threads.submit(send, number) for number in range(MANY)]
            list(islice(as_completed(sent, WAIT), MANY - SHARE - 1))  # rejected, each at once
            assert client.get("", headers=OTHER).status_code == 200
            assert SHARE <= sum(not future.done() for future in sent) <= SHARE + 1
        finally:
            os.kill(worker, signal.SIGCONT)
        return [future.result(WAIT) for future in sent]


def test_the_page_is_answered_while_a_flood_of_trees_waits(client):
    client, config = client()
    preset = component(config, "sv-lab-preset")
    moved = next(event for event in config["dependencies"] if [preset, "input"] in event["targets"])
    values = {part["id"]: part["props"].get("value") for part in config["components"]}
    data, box = [values.get(each) for each in moved["inputs"]], moved["inputs"].index(component(config, "sv-lab-box"))

    def send(number):
        mine = [*data[:box], f"0.5, 0.2, 0.{1000 + number}", *data[box + 1 :]]
        body = {"data": mine, "fn_index": moved["id"], "session_hash": f"s{number}"}
        return client.post("gradio_api/run/predict", json=body).text

    answers = the_page_is_answered(client, send)
    full = sum("your requests are already waiting" in text for text in answers)
    assert full == MANY - sum("forest" in text for text in answers)


def test_the_page_is_answered_while_a_flood_of_runs_is_opened(client):
    client, config = client()
    trace = specviz.run(specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=400))
    asked = {"component_id": component(config, "sv-stage"), "fn_name": "open_trace", "session_hash": "s"}
    asked["data"] = trace.to_json().ljust(800_000)

    answers = the_page_is_answered(client, lambda _: client.post("gradio_api/component_server", json=asked).json())
    answers = [json.loads(answer) for answer in answers]
    full = sum("your requests are already waiting" in answer.get("error", "") for answer in answers)
    assert full == MANY - sum("steps" in answer for answer in answers)


def join(client, config, number, headers=None, tokens=400):
    """A run that nobody reads."""
    (event,) = (event for event in config["dependencies"] if event["api_name"] == "generate")
    data = ["abc", "chain", "sequoia", 0.8, 1.0, None, None, tokens, 0, "", 0, "model"]
    body = {"data": data, "fn_index": event["id"], "session_hash": f"unread {number}"}
    return client.post("gradio_api/queue/join", json=body, headers=headers)


def until(condition):
    end = monotonic() + WAIT
    while not condition():
        assert monotonic() < end
        sleep(0.02)


def test_a_visitor_has_a_share_of_the_line_and_unread_runs_end_at_the_next_step(client, monkeypatch):
    monkeypatch.setattr(run_queue, "UNREAD", 0.0)
    monkeypatch.setattr(api, "batch_by_time", lambda steps: ([step] for step in steps))
    pair = Gated(permits=0)
    client, config = client(pair)
    machine = engine._engines[max(engine._engines)]
    assert join(client, config, 0).status_code == 200
    until(machine._running.locked)
    answers = [join(client, config, number) for number in range(1, 12)]
    assert [answer.status_code for answer in answers] == [200] * RUNS + [503] * (11 - RUNS)
    assert {answer.json()["detail"] for answer in answers[RUNS:]} == {run_queue.OWN}
    assert join(client, config, 12, OTHER).status_code == 200
    pair.gate.release(10**6)
    until(lambda: not client.get("gradio_api/queue/status").json()["queue_size"] and not machine._running.locked())
    assert 0 < pair.passes < 40, "four runs of 400 tokens"
