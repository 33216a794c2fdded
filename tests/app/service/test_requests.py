"""What is sent to the server: only what the page sends is answered, and everything else by a
sentence."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from inspect import isasyncgenfunction
from time import monotonic
from types import SimpleNamespace

import gradio.utils
import httpx
import pytest
from gradio.components.api_component import Api

import specviz
from app.service import limits, queue
from app.service import process as process_module
from app.service.http import gradio_private, guard
from app.service.http import readers as readers_module
from app.service.http.guard import Guard
from app.service.http.policy import POLICY
from app.service.http.readers import Readers
from app.service.http.server import Hosts
from app.service.process import Process, Requests
from app.service.queue import Full, Visitor
from tests.app.service.work import asleep, broken, endless, hungry, lost, priority
from tests.loops import WAIT, in_a_loop, is_idle, until, until_later

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


class NoChecks(Guard):
    """Only what looks at the outside of a request."""

    def __init__(self, app):
        self.app, self.readers, self.hosts, self.last_hop = app, Readers(), Hosts(), True
        self.calls, self.received = Counter(), Counter()

    def refusal(self, path, data):
        return None


def statuses(path, chunks, headers=(), wait=False, method="POST"):
    """What the guard alone answers to a request, and the visitor that its app would see."""
    sent, left, seen = [], list(chunks), []

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
        seen.append((scope["client"][0], queue.VISITOR.get().session))
        allowed = [(b"access-control-allow-origin", b"*")]
        await send({"type": "http.response.start", "status": 200, "headers": allowed})

    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"session=s",
        "client": ("10.0.0.9", 1),
        "headers": [(b"content-type", b"application/json"), *headers],
    }
    in_a_loop(NoChecks(app)(scope, receive, send))
    statuses.headers = dict(sent[0]["headers"])
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


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ([(b"host", b"localhost:7860")], 200),
        ([(b"host", b"192.168.1.5:7860")], 200),
        ([(b"host", b"[::1]:7860")], 200),
        ([(b"host", b"friends.example")], 200),
        ([(b"host", b"evil.example")], 421),
        ([(b"host", b"localhost.evil.example:80")], 421),
        ([(b"host", b"localhost"), (b"origin", b"http://evil.example")], 403),
        ([(b"host", b"localhost"), (b"origin", b"null")], 403),
        ([(b"host", b"localhost"), (b"origin", b"http://localhost:7860")], 200),
        # only a trusted proxy may name the host; here it comes from the client itself
        ([(b"host", b"localhost"), (b"x-forwarded-host", b"evil.example")], 200),
        (
            [
                (b"host", b"localhost"),
                (b"x-forwarded-host", b"evil.example"),
                (b"x-forwarded-for", b"1.1.1.1"),
            ],
            421,
        ),
    ],
)
def test_the_page_answers_under_its_own_names_only(monkeypatch, headers, status):
    monkeypatch.setenv("SPECVIZ_HOSTS", "friends.example")
    assert statuses("/open", [b"x"], headers)[0] == status
    assert statuses.headers[b"x-content-type-options"] == b"nosniff"
    assert statuses.headers[b"referrer-policy"] == b"same-origin"


@pytest.mark.parametrize(("origin", "kept"), [(b"http://evil.example", 0), (b"http://a.b", 1)])
def test_other_sites_may_read_answers_only_where_they_are_allowed(monkeypatch, origin, kept):
    monkeypatch.setenv("SPECVIZ_HOSTS", "a.b")
    headers = [(b"host", b"localhost"), (b"origin", origin)]
    statuses("/config", [], headers, method="GET")
    assert (b"access-control-allow-origin" in statuses.headers) == bool(kept)


def test_slow_bodies_of_one_network_hold_up_nobody(monkeypatch):
    """A hundred bodies of which nothing more comes, and one that is sent at once."""
    monkeypatch.setattr(limits, "BODY_SECONDS", WAIT)
    served = []

    async def app(scope, receive, send):
        served.append(await receive())
        await send({"type": "http.response.start", "status": 200, "headers": []})

    async def together():
        protected, rest = NoChecks(app), asyncio.Event()

        async def post(address, slow):
            sent = []

            async def receive():
                if slow and sent:
                    await rest.wait()
                sent.append(1)
                return {"type": "http.request", "body": b"x", "more_body": slow and len(sent) < 2}

            async def send(message):
                sent.append(message)

            headers = [(b"content-type", b"application/json")]
            scope = {"type": "http", "method": "POST", "path": "/open", "query_string": b""}
            await protected(scope | {"client": (address, 1), "headers": headers}, receive, send)

        slow = [asyncio.create_task(post("10.0.0.1", True)) for _ in range(100)]
        await until_later(lambda: protected.received.total() == len(slow))
        await post("10.0.9.2", False)
        assert len(served) == 1
        rest.set()
        await asyncio.gather(*slow)
        assert len(served) == 101 and not protected.received

    in_a_loop(together())


def test_a_network_that_sends_too_much_at_once_is_refused(monkeypatch):
    monkeypatch.setattr(guard, "RECEIVED_OF_SUBNET", 10)
    assert statuses("/open", [b"x" * 4] * 3)[0] == 429


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


def test_the_page_is_answered_while_a_flood_of_runs_is_opened(client, demo):
    trace = specviz.run(
        specviz.toy_pair(vocab=12), specviz.RunConfig("abc", max_new_tokens=40)
    ).to_json()
    assert "steps" in client.post("open", content=trace, headers=JSON).json()
    process = demo.service.requests.process(os.getpid)
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
    copy = next(event for event in demo.fns.values() if event.api_name == "check")
    data = ["\uffff" * limits.PROMPT] + ["x"] * (len(copy.inputs) - 1)
    body = json.dumps(
        {"data": data, "fn_index": copy._id, "session_hash": "fits"}, ensure_ascii=False
    )
    assert (
        client.post("gradio_api/run/predict", content=body.encode(), headers=JSON).status_code
        == 200
    )


# ---- memory, connections, the process beside the page ----


def test_a_page_that_was_dropped_from_gradios_sessions_misses_nothing(client, demo):
    """Pages of one address drive out all others; the page keeps nothing there."""
    event = next(event for event in demo.fns.values() if event.api_name == "check")
    body = {"data": [block.value for block in event.inputs], "fn_index": event._id}
    first = client.post("gradio_api/run/predict", json=body | {"session_hash": "mine"}).json()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(demo.app.state_holder, "capacity", 5)
        for number in range(9):
            other = body | {"session_hash": f"flood{number}"}
            assert client.post("gradio_api/run/predict", json=other).status_code == 200
        assert "mine" not in demo.app.state_holder.session_data
    again = client.post("gradio_api/run/predict", json=body | {"session_hash": "mine"}).json()
    assert first["data"] == again["data"] and "lossless" in first["data"][0]


def test_gradios_own_queue_is_as_it_is_read(client, demo):
    """`gradio_private` reads what gradio documents nowhere; this fails where that changes."""
    demo.service.pairs._loaded.clear()
    queued = [event for event in demo.fns.values() if event.queue and event.fn]
    event = next(event for event in queued if not event.collects_event_data)
    body = {"data": [None] * len(event.inputs), "fn_index": event._id, "session_hash": "known"}
    joined = client.post("gradio_api/queue/join", json=body)
    assert joined.status_code == 200, joined.text
    assert gradio_private.has_messages(demo, "known")
    assert gradio_private.has_event(demo, joined.json()["event_id"])
    assert not gradio_private.has_messages(demo, "unknown")
    until(lambda: is_idle(demo))
    gradio_private.forget(demo, "known")
    assert not gradio_private.has_messages(demo, "known")
    until(lambda: not gradio_private.has_event(demo, joined.json()["event_id"]))


def test_an_idle_server_looks_for_events_fifty_times_a_second(demo):
    """Gradio does a thousand times, by attributes that it documents nowhere."""
    slept, sleep = set(), asyncio.sleep
    names = ("sleep_when_free", "progress_update_sleep_when_free")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(gradio.queueing.asyncio, "sleep", lambda *a: slept.add(a[0]) or sleep(*a))
        for name, other in zip(names, (0.0201, 0.0202), strict=True):
            assert getattr(demo._queue, name) == 0.02
            patch.setattr(demo._queue, name, other)
            until(lambda other=other: other in slept)


def test_a_visitor_is_let_in_without_a_description_of_the_page(demo):
    """What gradio does for each visitor in the thread that answers all of them."""
    described = []
    with pytest.MonkeyPatch.context() as patch:
        configuration = type(demo.default_config)
        patch.setattr(configuration, "config_for_block", lambda *_: described.append(1) or {})
        assert demo.state_holder["new"] is demo.state_holder["new"]
    assert not described
    assert hasattr(gradio.utils, "MatplotlibBackendMananger"), "gradio has another name for it now"


def test_a_call_of_the_endpoint_is_described_to_nobody_and_hands_no_value_to_another_thread(
    serve, sites
):
    """Each would wait for Python's lock beside a step, once for every value of every step."""
    done = []
    with pytest.MonkeyPatch.context() as patch:
        url = serve(specviz.toy_pair(vocab=12))
        configuration = type(sites[None].demo.default_config)
        patch.setattr(configuration, "config_for_block", lambda *_: done.append("config") or {})
        for name in ("preprocess", "postprocess"):
            patch.setattr(Api, name, lambda _, value, name=name: done.append(name) or value)
        with httpx.Client(base_url=url, timeout=WAIT, trust_env=False) as client:
            joined = client.post("gradio_api/call/v2/generate", json={"prompt": "abc"})
            event = joined.json()["event_id"]
            answer = client.get(f"gradio_api/call/v2/generate/{event}").text
    assert "event: complete" in answer and not done


def test_no_message_of_a_run_to_its_page_is_handed_to_another_thread(demo):
    streams = [event for event in demo.fns.values() if isasyncgenfunction(event.fn)]
    handed = [event.fn.__qualname__ for event in streams if event.postprocess]
    assert len(streams) > 3 and handed == ["build.<locals>.run"], "figures are written elsewhere"


def test_a_page_has_left_when_it_reads_nothing(monkeypatch):
    clock = SimpleNamespace(now=monotonic())
    monkeypatch.setattr(readers_module, "monotonic", lambda: clock.now)
    readers = Readers(patience=10)

    async def app(scope, receive, send):
        clock.now += 3600
        assert not readers.have_left("reads")
        await send({})

    async def stuck(message):
        """It takes nothing of what it is sent."""
        assert not readers.have_left("stuck")
        clock.now += 3600
        assert readers.have_left("stuck")

    async def app_sends(scope, receive, send):
        await send({})

    async def visit():
        await readers.reading("reads", app, {}, None, lambda message: asyncio.sleep(0))
        await readers.reading("stuck", app_sends, {}, None, stuck)

    assert not readers.have_left("") and not readers.have_left("new")
    in_a_loop(visit())
    clock.now += 3600
    assert readers.have_left("new")
    readers.seen("new")
    assert not readers.have_left("new")


@pytest.fixture
def process():
    process = Process(seconds=1)
    yield process
    process.end()


def test_the_process_is_of_low_priority_and_outlives_its_failures(process, monkeypatch):
    monkeypatch.setattr(process_module, "WAITS", WAIT)  # the machine may be busy
    assert process(os.getpid) != os.getpid()
    assert process(priority) == min(19, os.nice(0) + 10)
    for work, error, words in (
        (broken, RuntimeError, "Traceback"),
        (endless, ValueError, "at most 1 s of CPU time"),
        (hungry, ValueError, "at most 3 GB of memory"),
        (lost, ValueError, "its process ended"),
    ):
        with pytest.raises(error, match=words):
            process(work)
        assert process(int, "3") == 3
    os.kill(process(os.getpid), signal.SIGKILL)  # while it has nothing to do
    # All of its threads are gone then; its first one may be long before the others.
    until(lambda: not process._process.is_alive())
    assert process(int, "3") == 3


def test_a_process_that_does_not_answer_is_replaced_and_that_is_the_reason(process):
    os.kill(process(os.getpid), signal.SIGSTOP)
    for work in (int, asleep):  # it used no second of CPU time
        with pytest.raises(ValueError, match="no answer within 3 s"):
            process(work)
    assert process(int, "3") == 3


def test_requests_are_computed_in_fair_order_and_the_last_is_rejected_where_too_many_wait():
    begun, gate, done = threading.Event(), threading.Event(), []

    def compute(work, *args):
        begun.set()
        assert gate.wait(WAIT)
        done.append(args[0])

    requests = Requests(compute, 4)
    futures = []
    for who in ("a 1", "a 1", "a 1", "a 2", "b 1", "c 1"):
        futures.append(requests.submit(Visitor(*who.split()), int, who))
        assert begun.wait(WAIT)
    futures[3].cancel()
    gate.set()
    with pytest.raises(Full):
        futures[2].result(WAIT)
    futures[5].result(WAIT)
    assert done == ["a 1", "a 1", "b 1", "c 1"]


PARENT = """
import os
import time
from app.service.process import Process
if __name__ == "__main__":
    process = Process(20)
    print(process(os.getpid), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_outlives_the_page(end, tmp_path):
    """Also where that was killed."""
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": os.getcwd()}
    command = [sys.executable, script]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as parent:
        child = int(parent.stdout.readline())
        parent.send_signal(end)
        parent.wait(WAIT)
    until(lambda: not os.path.exists(f"/proc/{child}"))
