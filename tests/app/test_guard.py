"""Nobody past the line: no direct way to a run, bodies are bounded, and what a visitor sends is in no log."""

import httpx
import pytest

import specviz
from tests.loops import in_a_loop

pytest.importorskip("gradio")

from app.machine import limits
from app.machine.guard import Bounded
from app.page import build_demo, launch

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
