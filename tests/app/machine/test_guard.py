"""Nobody past the line: no direct way to a run, bodies are bounded, and what a visitor sends is in no log."""

import json
from pathlib import Path

import httpx
import pytest
from app.machine.unread_messages import Unread

import specviz
from app.machine import limits
from app.machine.guard import POLICY, Bounded
from app.page import build_demo, launch
from tests.loops import in_a_loop

SECRET = "my-diary-of-1999"


def answer(app, headers, chunks):
    """The status that an ASGI app answers to a request with these chunks of a body."""
    sent, left = [], list(chunks)

    async def receive():
        return {"type": "http.request", "body": left.pop(0) if left else b"", "more_body": bool(left)}

    async def send(news):
        sent.append(news)

    in_a_loop(app({"type": "http", "headers": headers, "method": "POST", "path": "/"}, receive, send))
    return sent[0]["status"]


async def reads(scope, receive, send):
    while (await receive())["more_body"]:
        pass
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b""})


@pytest.mark.parametrize(
    ("headers", "chunks", "status"),
    [
        ([(b"content-length", b"10")], [b"x" * 10], 200), ([(b"content-length", b"11")], [b"x" * 11], 413),
        ([], [b"x" * 4] * 2, 200), ([], [b"x" * 4] * 3, 413), ([(b"content-length", b"2")], [b"x" * 11], 413),
        ([(b"content-length", b"-1")], [], 413), ([(b"content-length", b"9" * 40)], [], 413),
    ],
)  # fmt: skip
def test_a_body_is_counted_whatever_it_says_of_itself(headers, chunks, status):
    assert answer(Bounded(reads, 10), headers, chunks) == status


def test_no_way_leads_around_the_line(monkeypatch, caplog, capfd):
    made = []
    monkeypatch.setattr("app.api.answers", lambda *args: made.append(args) or iter(()))
    demo = build_demo(lambda: specviz.toy_pair(vocab=12))
    _, url, _ = launch(demo, prevent_thread_lock=True, quiet=True, server_name="127.0.0.1")
    try:
        with httpx.Client(base_url=f"{url}gradio_api", timeout=60, trust_env=False) as client:
            for way in ("run/generate", "api/generate", "run/generate/"):
                done = client.post(f"/{way}", json={"data": [SECRET]})
                assert done.status_code == 404, way
            assert client.post("/queue/join", content=b"x" * (limits.BODY + 1)).status_code == 413
            for body in (b'{"data": "%s"' % SECRET.encode(), b'{"data": [{"%s": 1}]}' % SECRET.encode()):
                assert client.post("/queue/join", content=body).status_code >= 400
            files = {"files": ("a.json", SECRET.encode() * 20_000)}
            assert client.post("/upload", files=files).status_code >= 400
    finally:
        demo.close(verbose=False)
    out, err = capfd.readouterr()
    assert not made and SECRET not in out + err + caplog.text


# ---- what is not used, what is large, what nobody reads ----


@pytest.fixture
def site(serve, sites):
    """The page with all tabs, and a client of it."""
    url = serve()
    with httpx.Client(base_url=url, timeout=60, trust_env=False) as client:
        yield sites[None].demo, client


CLOSED = [
    "deep_link?session_hash=a", "file=/etc/passwd", "file/etc/passwd", "proxy=http://127.0.0.1", "runs", "vibe-code",
    "custom_component/a/client/b/c", "stream/a/b/1/playlist-file", "dev/reload", "token", "login_check",
]  # fmt: skip


@pytest.mark.parametrize("address", [*(f"/gradio_api/{way}" for way in CLOSED), "/monitoring", "/svelte/a.js"])
def test_routes_that_the_page_does_not_use_are_closed(site, address):
    _, client = site
    assert client.get(address).json() == {"detail": (said := "Not found."), "error": said}


def test_every_answer_has_the_content_security_policy(site):
    _, client = site
    for address in ("/", "/theme.css", "/gradio_api/info", "/nowhere"):
        assert client.get(address).headers["content-security-policy"] == POLICY
    assert "default-src 'self'" in POLICY and "https://huggingface.co" in POLICY, "a Space is shown in a frame"


def of_stage(demo):
    return next(number for number, block in demo.blocks.items() if hasattr(block, "open_trace"))


def test_only_opening_a_run_may_send_much(site):
    demo, client = site
    sizes = limits.BODY, limits.OPENED_BODY
    for name, size, status in (
        ("open_trace", sizes[0], 200), ("open_trace", sizes[1], 413), ("save", sizes[0], 413), ("save", 100, 200),
    ):  # fmt: skip
        asked = {"data": "x" * size, "fn_name": name, "component_id": of_stage(demo), "session_hash": "much"}
        assert client.post("/gradio_api/component_server/", json=asked).status_code == status, (name, size)
    asked = {"data": ["x" * limits.BODY], "fn_index": 0, "session_hash": "large"}
    assert client.post("/gradio_api/run/predict", json=asked).status_code == 413


def test_the_longest_prompt_fits_and_a_longer_one_is_kept_nowhere(site):
    demo, client = site
    copy = next(event for event in demo.fns.values() if event.api_name == "copy_link")
    for name, prompt, status in (("fits", "\uffff" * limits.PROMPT, 200), ("over", "x" * limits.BODY, 413)):
        data = [prompt, *("x" for _ in copy.inputs[1:])]
        sent = json.dumps({"data": data, "fn_index": copy._id, "session_hash": name}, ensure_ascii=False)
        done = client.post("/gradio_api/run/predict", content=sent, headers={"content-type": "application/json"})
        assert done.status_code == status
    assert "fits" in demo.state_holder.session_data and "over" not in demo.state_holder.session_data


def test_files_have_a_total_and_go_when_they_have_been_read(site, tmp_path):
    demo, client = site
    kept = demo.upload_file_set

    def upload(text):
        return client.post("/gradio_api/upload", files={"files": ("a.json", text)})

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(limits, "UPLOADS", len(kept) + 2)
        first, second, third = (upload(f"{tmp_path} {i}") for i in range(3))
        assert (first.status_code, second.status_code, third.status_code) == (200, 200, 503)
        assert "Too many files" in third.json()["error"]
        patch.setattr(limits, "UPLOAD_SECONDS", -1.0)
        (last,) = upload(f"{tmp_path} again").json()
    for path in first.json() + second.json():
        assert not Path(path).parent.exists() and path not in kept
    assert kept == {last} and Path(last).exists()
    two = [("files", ("a", b"1")), ("files", ("b", b"2"))]
    assert client.post("/gradio_api/upload", files=two).status_code == 413


def test_what_nobody_reads_is_dropped_when_another_comes(site, monkeypatch):
    demo, _ = site
    assert isinstance(demo._queue.pending_messages_per_session, Unread)
    now, events = [0.0], {"left": {"1"}, "reads": {"2"}}
    monkeypatch.setattr("app.machine.unread_messages.monotonic", lambda: now[0])
    unread = Unread(events)
    unread["left"] = unread["reads"] = "messages"
    now[0] = limits.UNREAD_SECONDS - 1
    assert "reads" in unread  # which is what a reader asks
    now[0] = limits.UNREAD_SECONDS + 1
    unread["new"] = "messages"
    assert set(unread) == {"reads", "new"} and set(events) == {"reads"}
    assert unread["left"].empty() and "left" not in unread, "what is still sent to it goes nowhere"


def test_who_waits_for_what_is_gone_gets_a_sentence(site, capfd):
    _, client = site
    for address in ("queue/data?session_hash=nobody", "call/generate/nothing"):
        assert "The messages of this run were removed" in client.get(f"/gradio_api/{address}").text
    assert "Traceback" not in capfd.readouterr().err
