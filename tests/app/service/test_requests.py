"""What is sent to the server: only what the page sends is answered, and everything else by a
sentence."""

import asyncio
import json
import logging
import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from app.machine import limits, pool, queue, server
from app.machine.guard import POLICY, Guard
from app.machine.queue import FairStates, Visitor
from app.machine.worker import Worker

import specviz
from tests.loops import in_a_loop

JSON = {"content-type": "application/json"}
SECRET = "my-diary-of-1999"
BIG = int("9" * 400)
FILE = {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}


@pytest.fixture
def client(serve):
    with httpx.Client(base_url=serve(), timeout=120, trust_env=False) as client:
        yield client


@pytest.fixture
def demo(client, sites):
    return sites[None].demo


def statuses(path, chunks, headers=(), wait=False):
    """What `Guard` alone answers to a request, and the visitor that its app would see."""
    sent, left, seen = [], list(chunks), []

    class NoChecks:
        def __call__(self, path, data):
            pass

    async def receive():
        if wait and not left:
            await asyncio.sleep(60)
        return {
            "type": "http.request",
            "body": left.pop(0) if left else b"",
            "more_body": bool(left) or wait,
        }

    async def send(message):
        sent.append(message)

    async def app(scope, receive, send):
        seen.append((scope["client"][0], queue.current_visitor().session))
        await send({"type": "http.response.start", "status": 200, "headers": []})

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "query_string": b"session=s",
        "client": ("10.0.0.9", 1),
    }
    scope["headers"] = [(b"content-type", b"application/json"), *headers]
    in_a_loop(Guard(app, NoChecks(), None, last_hop=True)(scope, receive, send))
    return sent[0]["status"], *seen


@pytest.mark.parametrize(
    ("headers", "chunks", "status"),
    [
        ([(b"content-length", b"10")], [b"x" * 10], 200),
        ([(b"content-length", b"11")], [b"x" * 11], 413),
        ([], [b"x" * 4] * 3, 413),
        ([(b"content-length", b"2")], [b"x" * 11], 413),
        ([(b"content-length", b"-1")], [], 413),
    ],
)
def test_a_body_is_counted_whatever_it_says_of_itself(monkeypatch, headers, chunks, status):
    monkeypatch.setattr(limits, "OPENED_BODY", 10)
    assert statuses("/open", chunks, headers)[0] == status


def test_a_body_that_does_not_end_is_given_up(monkeypatch):
    monkeypatch.setattr(limits, "BODY_SECONDS", 0.05)
    assert statuses("/open", [b"x"], wait=True) == (408,)


def test_the_client_is_the_one_that_the_last_proxy_names():
    forwarded = (b"x-forwarded-for", b"1.1.1.1, 2.2.2.2")
    assert statuses("/open", [b"x"], [forwarded]) == (200, ("2.2.2.2", "s"))


CLOSED = [
    "deep_link?session_hash=a",
    "file=/etc/passwd",
    "proxy=http://127.0.0.1",
    "vibe-code",
    "stream/a/b/1/playlist-file",
    "dev/reload",
    "token",
    "login_check",
    "upload_progress?upload_id=a",
    "mcp/http",
    "mcp/sse",
]


@pytest.mark.parametrize(
    "address", [*(f"/gradio_api/{way}" for way in CLOSED), "/monitoring", "/svelte/a.js"]
)
def test_routes_that_the_page_does_not_use_are_closed(client, address):
    answer = client.get(address)
    assert answer.status_code == 404 and answer.json()["error"] == "Not found."
    assert answer.headers["content-security-policy"] == POLICY


def test_the_page_names_the_inline_scripts_that_it_was_sent_with(client):
    policy = client.get("/").headers["content-security-policy"]
    (scripts,) = re.findall("script-src ([^;]*)", policy)
    assert (
        "'unsafe-inline'" not in scripts
        and scripts.count("'sha256-") > 3
        and "default-src 'self'" in policy
    )


def test_no_way_leads_around_the_queue_and_nothing_sent_is_logged(
    client, capfd, caplog, monkeypatch
):
    monkeypatch.setattr("app.api.answers", lambda *args: pytest.fail("a run began"))
    for way in ("run/generate", "api/generate", "upload", "mcp/http"):
        assert client.post(f"gradio_api/{way}", json={"data": [SECRET]}).status_code == 404
    for body in (
        b"x" * (limits.BODY + 1),
        b'{"data": "%s"}' % SECRET.encode(),
        b'{"%s": 1}' % SECRET.encode(),
    ):
        assert (
            400
            <= client.post("gradio_api/queue/join", content=body, headers=JSON).status_code
            < 500
        )
    assert SECRET not in "".join(capfd.readouterr()) + caplog.text


def test_another_site_cannot_send_what_needs_no_permission(client):
    answer = client.post(
        "gradio_api/component_server", content="{}", headers={"content-type": "text/plain"}
    )
    assert answer.status_code == 415


def test_only_opening_a_run_may_send_much(client, demo):
    stage = next(number for number, block in demo.blocks.items() if hasattr(block, "save"))
    body = {
        "data": "x" * limits.BODY,
        "fn_name": "save",
        "component_id": stage,
        "session_hash": "much",
    }
    assert client.post("gradio_api/component_server", json=body).status_code == 413
    assert client.post("open", content=b"x" * limits.BODY, headers=JSON).status_code == 200
    assert (
        client.post("open", content=b"x" * (limits.OPENED_BODY + 1), headers=JSON).status_code
        == 413
    )


def test_the_page_is_answered_while_a_flood_of_runs_is_opened(client):
    trace = specviz.run(
        specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=40)
    ).to_json()
    assert "steps" in client.post("open", content=trace, headers=JSON).json()
    process = next(iter(pool._worker._pool._processes))
    with ThreadPoolExecutor(30) as threads:
        os.kill(process, signal.SIGSTOP)
        try:
            sent = [
                threads.submit(client.post, "open", content=trace, headers=JSON) for _ in range(30)
            ]
            assert client.get("", headers={"X-Forwarded-For": "10.0.0.2"}).status_code == 200
            assert not any(future.done() for future in sent)
        finally:
            os.kill(process, signal.SIGCONT)
        assert all("steps" in future.result().json() for future in sent)


# ---- bad requests: every one is a sentence ----


def ending(client, body, direct):
    """The status and the text that an event ends with."""
    done = client.post(f"gradio_api/{'run/predict' if direct else 'queue/join'}", json=body)
    if "event_id" not in done.text:
        return done.status_code, done.text
    with client.stream(
        "GET", "gradio_api/queue/data", params={"session_hash": body["session_hash"]}
    ) as lines:
        return next((200, line) for line in lines.iter_lines() if "process_completed" in line)


@pytest.mark.parametrize(
    "value", [BIG, ["a"], {"a": 1}, None, "x", True, FILE], ids=lambda v: str(v)[:12]
)
def test_no_event_stumbles_over_a_value(client, demo, value, capfd):
    for event in demo.fns.values():
        if event.fn and event.inputs and event.api_name != "generate":
            body = {
                "data": [value] * len(event.inputs),
                "fn_index": event._id,
                "session_hash": "values",
            }
            body |= {"event_data": {"search": value}} if event.collects_event_data else {}
            status, text = ending(client, body, not event.queue)
            assert status < 500 and '"error":null' not in text, (event.name, text)
    assert "Traceback" not in "".join(capfd.readouterr())


REQUESTS = {
    "queue/join": (
        [1],
        {"dta": []},
        {"data": [], "fn_index": BIG},
        {"data": [], "fn_index": 9, "session_hash": "x" * 65},
        {"data": "x", "fn_index": 9, "session_hash": "a"},
        {"data": [], "fn_index": 9, "session_hash": ["a"]},
    ),
    "call/v2/generate": (
        {"prompt": "abc", "sise": 3},
        {},
        {"prompt": "abc", "seed": BIG},
        {"prompt": "abc", "builder": {"a": [1] * 9000}},
    ),
    "call/generate": ({"data": ["abc"]}, {"data": None}),
    "component_server": (
        {"data": 1},
        {"data": 1, "component_id": [1], "fn_name": "save"},
        {"data": 1, "component_id": 0, "fn_name": "__init__", "session_hash": "a"},
    ),
    "mcp/": ([1], {}),
}


@pytest.mark.parametrize(
    ("path", "body"), [(path, body) for path, bodies in REQUESTS.items() for body in bodies]
)
def test_a_request_that_makes_no_sense_gets_a_sentence(client, path, body, capfd):
    done = client.post(f"gradio_api/{path}", json=body)
    assert 400 <= done.status_code < 500 and "Traceback" not in "".join(capfd.readouterr())


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"data": ' + b"[" * 5000, b"\xff", b"NaN", b'{"session_hash": "\\ud800"}']
)
def test_a_body_that_is_no_json_gets_a_sentence(client, body, capfd):
    for path in ("queue/join", "component_server/", "call/v2/generate", "mcp/", "cancel"):
        done = client.post(f"gradio_api/{path}", content=body, headers=JSON)
        assert done.status_code == 400 and done.json()["error"].endswith("valid Unicode.")
    assert "Traceback" not in "".join(capfd.readouterr())


def test_messages_that_are_gone_are_answered_by_a_sentence(client, capfd):
    for address in ("queue/data?session_hash=nobody", "call/generate/nothing"):
        assert "The messages of this run were removed" in client.get(f"gradio_api/{address}").text
    assert "Traceback" not in capfd.readouterr().err


def test_the_longest_prompt_fits(client, demo):
    copy = next(event for event in demo.fns.values() if event.api_name == "copy_link")
    data = ["\uffff" * limits.PROMPT] + ["x"] * (len(copy.inputs) - 1)
    body = json.dumps(
        {"data": data, "fn_index": copy._id, "session_hash": "fits"}, ensure_ascii=False
    )
    assert (
        client.post("gradio_api/run/predict", content=body.encode(), headers=JSON).status_code
        == 200
    )


# ---- memory, connections, the process beside the page ----


def test_many_sessions_of_one_address_do_not_erase_those_of_others(demo):
    states = FairStates(demo)
    states.capacity = 3
    for address, session in (("a", "1"), ("b", "1"), ("b", "2"), ("b", "3"), ("b", "4")):
        queue.VISITOR.set(Visitor(address))
        states[f"{address}{session}"]
    assert list(states.session_data) == ["a1", "b3", "b4"]


def test_connections_that_cannot_be_accepted_are_logged_once():
    server.raise_descriptor_limit()
    logger, records = logging.getLogger("asyncio"), []
    handler = logging.Handler()
    handler.emit = records.append
    logger.addHandler(handler)
    for _ in range(5):
        logger.error("socket.accept() out of system resource", exc_info=True)
    logger.removeHandler(handler)
    assert len(records) == 1


def priority():
    return os.nice(0)


def broken():
    raise RuntimeError("secret")


def endless():
    while True:
        pass


def lost():
    os._exit(1)


def test_the_worker_is_a_process_of_low_priority_that_outlives_its_failures():
    async def calls(worker):
        assert await worker(os.getpid) != os.getpid() and await worker(priority) == min(
            19, os.nice(0) + 10
        )
        for work, error, words in (
            (broken, RuntimeError, "Traceback"),
            (endless, ValueError, "at most 1 s of CPU time"),
            (lost, ValueError, "its process ended"),
        ):
            with pytest.raises(error, match=words):
                await worker(work)
            assert await worker(int, "3") == 3
        os.kill(await worker(os.getpid), signal.SIGKILL)  # while it has nothing to do
        await asyncio.sleep(0.1)
        assert await worker(int, "3") == 3

    worker = Worker(seconds=1)
    in_a_loop(calls(worker))
    worker.end()
