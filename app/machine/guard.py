"""Protect the page: only routes that it uses, bounded bodies, a content security policy, one
address per visitor."""

from __future__ import annotations

import asyncio
import json
import re
from base64 import b64encode
from collections.abc import Callable
from contextlib import nullcontext
from hashlib import sha256
from typing import Any
from urllib.parse import parse_qs

from gradio.server_messages import UnexpectedErrorMessage
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response

from . import limits
from .checks import Checks, Rejected, fields
from .pool import Slots
from .queue import VISITOR, Visitor

# Gradio compiles the code of its events; everything else comes from here, and of inline scripts
# only those that the page was sent with (`with_hashes`).
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "object-src 'none'",
        "base-uri 'self'",
        "form-action 'self'",
        # A Space is shown inside a page of the hub, a demo of one's own inside a notebook.
        "frame-ancestors 'self' https://huggingface.co https://*.huggingface.co https://*.hf.space"
        " http://localhost:* http://127.0.0.1:*",
    )
)
API = "/gradio_api"
OPEN = "/open"  # takes a saved run, as it is in its file
READ = re.compile(
    rf"/|/config|/(theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(/\d+)?)|/(assets|static|web)/.*"
    rf"|{API}/(info|openapi\.json|startup-events|app_id|theme\.css|queue/(data|status)|mcp"
    rf"|heartbeat/\w{{1,64}}|call/(v2/)?generate/\w{{1,64}})"
)
SENT = re.compile(
    rf"{OPEN}|{API}/(queue/join|run/predict|call/(v2/)?generate|component_server|cancel|reset|mcp)"
)
CALLS = 8  # of the tool at once; each holds a thread
LARGE_BODIES = 8  # that are read at once
GONE = "The messages of this run were removed. Reload the page, or start the run again."


class Guard:
    """ASGI middleware that lets through what this page sends, and answers everything else with a
    sentence.

    With `last_hop` the client is the last one in X-Forwarded-For: uvicorn, which sees to the
    proxies that it knows by address, takes the first one where it trusts them all, and anybody can
    write that.
    """

    def __init__(self, app: Any, checks: Checks, queue: Any, last_hop: bool = False) -> None:
        self.app, self.checks, self.queue, self.last_hop = app, checks, queue, last_hop
        self.calls, self.bodies = Slots(CALLS), Slots(LARGE_BODIES)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        # without the path of a proxy before it and without a slash at its end
        path = scope.get("path", "").removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
        method = scope["method"]
        start: list[Any] = []
        page = bytearray()

        async def send_with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)["Content-Security-Policy"] = POLICY
                start.append(message)
                if path == "/":
                    return
            elif path == "/":  # the page: whole, because its policy names its scripts
                page.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                MutableHeaders(scope=start[0])["Content-Security-Policy"] = with_hashes(bytes(page))
                await send(start[0])
                message = message | {"body": bytes(page)}
            await send(message)

        scope = self.with_client(scope, path)
        VISITOR.set(Visitor((scope.get("client") or [""])[0]))
        try:
            answer = await self.answer(scope, receive, path, method)
        except Rejected as error:
            answer = JSONResponse(
                {"detail": error.args[1], "error": error.args[1]}, status_code=error.args[0]
            )
        if isinstance(answer, Response):
            return await answer(scope, receive, send_with_policy)
        receive, place = answer
        async with place:
            await self.app(scope, receive, send_with_policy)

    async def answer(self, scope: Any, receive: Any, path: str, method: str) -> Any:
        """A response, or how the app receives the body and what it must hold meanwhile."""
        place: Any = nullcontext()
        if method in ("GET", "HEAD"):
            if not READ.fullmatch(path):
                raise Rejected(404, "Not found.")
            return self.gone(scope, path) or (receive, place)
        if method == "OPTIONS":
            return receive, place
        if not SENT.fullmatch(path):
            raise Rejected(404, "Not found.")
        if method != "POST":
            raise Rejected(405, "Use POST.")
        if (
            Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
            != "application/json"
        ):
            raise Rejected(415, "The Content-Type of a request must be application/json.")
        if path == OPEN:
            session = parse_qs(scope["query_string"].decode("latin-1")).get("session", [""])[0][:64]
            VISITOR.set(Visitor(VISITOR.get().address, session))
            async with self.bodies.turn():
                body = await read_body(scope, receive, limits.OPENED_BODY)
        else:
            body = await read_body(scope, receive, limits.BODY)
            data = fields(body)
            VISITOR.set(Visitor(VISITOR.get().address, str(data.get("session_hash") or "")[:64]))
            if path == f"{API}/mcp":
                if data.get("method") == "tools/call":
                    place = self.calls.turn()
                    try:
                        self.checks.call(data)
                    except Rejected as error:
                        content = {
                            "content": [{"type": "text", "text": error.args[1]}],
                            "isError": True,
                        }
                        return JSONResponse(
                            {"jsonrpc": "2.0", "id": data.get("id"), "result": content}
                        )
            else:
                self.checks(path.removeprefix(API), data)
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Any:
            return messages.pop() if messages else await receive()

        return receive_again, place

    def with_client(self, scope: Any, path: str) -> Any:
        """The request with the address of its client, which a call of the tool passes on: gradio
        sends it to itself."""
        forwarded = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
        if self.last_hop and forwarded:
            scope = scope | {
                "client": (forwarded[-1].decode("latin-1").rpartition(",")[2].strip()[:64], 0)
            }
        if scope.get("client") and path == f"{API}/mcp":
            headers = [pair for pair in scope["headers"] if pair[0] != b"x-forwarded-for"]
            scope = scope | {
                "headers": [*headers, (b"x-forwarded-for", scope["client"][0].encode())]
            }
        return scope

    def gone(self, scope: Any, path: str) -> Response | None:
        """The answer to who asks for messages that were removed; gradio would log a traceback."""
        sessions, text = self.queue.pending_messages_per_session, ""
        if path == f"{API}/queue/data":
            if (
                parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0]
                not in sessions
            ):
                message = UnexpectedErrorMessage(message=GONE, session_not_found=True)
                text = f"data: {message.model_dump_json()}\n\n"
        elif path.startswith(f"{API}/call/"):
            event = path.rpartition("/")[2]
            pending = self.queue.pending_event_ids_session.values()
            if not any(
                event in names for names in (sessions, self.queue.event_ids_to_events, *pending)
            ):
                text = f"event: error\ndata: {json.dumps(GONE)}\n\n"
        return Response(text, media_type="text/event-stream") if text else None


def with_hashes(page: bytes) -> str:
    """The policy of a page, which allows the inline scripts that it was sent with, and the one that
    gradio adds."""
    scripts = re.findall(rb"<script[^>]*>(.*?)</script>", page, re.DOTALL)
    hashes = {
        f"'sha256-{b64encode(sha256(script).digest()).decode()}'"
        for script in scripts
        if script.strip()
    }
    return POLICY.replace("script-src 'self'", " ".join(["script-src 'self'", *sorted(hashes)]))


async def read_body(scope: Any, receive: Callable[[], Any], limit: int) -> bytes:
    """The body of a request, counted as it arrives and waited for no longer than
    `limits.BODY_SECONDS`."""
    length = Headers(scope=scope).get("content-length", "0")
    body, more = bytearray(), True
    too_large = not length.isdigit() or len(length) > 18 or int(length) > limit
    try:
        async with asyncio.timeout(limits.BODY_SECONDS):
            while more and not too_large:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise Rejected(400, "The request was incomplete.")
                body += message.get("body", b"")
                more, too_large = message.get("more_body", False), len(body) > limit
    except TimeoutError:
        raise Rejected(408, f"A request must arrive within {limits.BODY_SECONDS:g} s.") from None
    if too_large:
        raise Rejected(413, f"A request may have at most {limit:,} bytes.")
    return bytes(body)
