"""Protect the page: only hosts that it is served to and routes that it uses, bounded bodies, a
content security policy, one address per visitor."""

from __future__ import annotations

import asyncio
import json
import re
from collections import Counter
from urllib.parse import parse_qs, urlsplit

import gradio as gr
from gradio.server_messages import UnexpectedErrorMessage
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from specviz.base.codec import JsonObject

from .. import limits
from ..queue import VISITOR, Visitor
from . import gradio_private
from .checks import Checks, Rejected, fields
from .policy import POLICY, SAFE, with_hashes
from .readers import Readers
from .server import Hosts

API = "/gradio_api"
OPEN = "/open"  # takes a saved run, as it is in its file
READ = re.compile(
    r"/|/config|/(theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(/\d+)?)"
    r"|/(assets|static|web)/.*"
    rf"|{API}/(info|openapi\.json|startup-events|app_id|theme\.css|queue/(data|status)|mcp"
    rf"|heartbeat/\w{{1,64}}|call/(v2/)?generate/\w{{1,64}})"
)
SENT = re.compile(
    rf"{OPEN}|{API}/(queue/join|run/predict|call/(v2/)?generate|component_server|cancel|reset|mcp)"
)
# Calls of the tool that wait or compute, of all and of one subnet; each of them takes a thread.
CALLS = 32
CALLS_OF_SUBNET = 8
# Bytes of bodies that are being received, of all and of one subnet.
RECEIVED = 256_000_000
RECEIVED_OF_SUBNET = 40_000_000
GONE = "The messages of this run were removed. Reload the page, or start the run again."
MANY_CALLS = "Too many calls are waiting. Try again when one of them has ended."


class Guard:
    """ASGI middleware that lets through what this page sends, and answers everything else with a
    sentence.

    Args:
        app: what it protects.
        demo: the page.
        readers: learns which pages read their messages.
        hosts: by which names the page may be asked for.
        last_hop: whether the client is the last one in X-Forwarded-For: uvicorn, which sees to the
            proxies that it knows by address, takes the first one where it trusts them all, and
            anybody can write that.
    """

    def __init__(
        self, app: ASGIApp, demo: gr.Blocks, readers: Readers, hosts: Hosts, last_hop: bool = False
    ) -> None:
        self.app = app
        self.demo = demo
        self.readers = readers
        self.hosts = hosts
        self.last_hop = last_hop
        self.checks = Checks(demo)
        self.calls = Counter[str]()
        self.received = Counter[str]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        # without the path of a proxy before it and without a slash at its end
        path = scope.get("path", "").removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
        # From here on the address is that of the visitor, whatever proxies stand before the page:
        # the queue counts by it, so it must be none that he can choose.
        scope = self.with_client(scope, path)
        send = self.with_headers(scope, send, whole=path == "/")
        VISITOR.set(Visitor((scope.get("client") or [""])[0]))
        for gone in self.readers.gone():
            gradio_private.forget(self.demo, gone)
        try:
            self.check_origin(scope)
            answer, receive = await self.answer(scope, receive, path)
        except Rejected as error:
            status, sentence = error.args
            answer = JSONResponse({"detail": sentence, "error": sentence}, status_code=status)
        if answer:  # of this class: the page is not asked
            await answer(scope, receive, send)
        elif session := read_session(scope, path):
            await self.readers.reading(session, self.app, scope, receive, send)
        elif path == f"{API}/mcp":
            await self.call_tool(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def check_origin(self, scope: Scope) -> None:
        """Raise `Rejected` where the page is asked for by a name that is not its own, as by another
        site that points its name here, or by a script of another site."""
        headers = Headers(scope=scope)
        # A proxy passes on the name that the visitor asked for beside its own.
        names = [headers.get("host", ""), headers.get("x-forwarded-host", "")]
        if not all(map(self.hosts.allow, filter(None, names))):
            raise Rejected(
                421,
                "The page is not served under this name. Name the host with --host-allowed or "
                "SPECVIZ_HOSTS.",
            )
        origin = headers.get("origin")
        if origin and scope["method"] == "POST" and not self.hosts.allow(urlsplit(origin).netloc):
            raise Rejected(403, "Scripts of other sites may not use this page.")

    async def answer(
        self, scope: Scope, receive: Receive, path: str
    ) -> tuple[Response | None, Receive]:
        """The response where the page is not asked, and how it receives the body where it is."""
        method = scope["method"]
        if method in ("GET", "HEAD"):
            if not READ.fullmatch(path):
                raise Rejected(404, "Not found.")
            return self.gone(scope, path), receive
        if method == "OPTIONS":
            return None, receive
        if not SENT.fullmatch(path):
            raise Rejected(404, "Not found.")
        if method != "POST":
            raise Rejected(405, "Use POST.")
        kind = Headers(scope=scope).get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":
            raise Rejected(415, "The Content-Type of a request must be application/json.")
        limit = limits.OPENED_BODY if path == OPEN else limits.BODY
        body = await self.read_body(scope, receive, limit)
        if path == OPEN:
            session = parse_qs(scope["query_string"].decode("latin-1")).get("session", [""])[0]
        else:
            data = fields(body)
            # With the name of somebody's page a program could read what that page is sent.
            if path.startswith(f"{API}/call/") and data.pop("session_hash", None) is not None:
                body = json.dumps(data).encode()  # its messages are asked for by its event alone
            session = str(data.get("session_hash") or "")
            self.readers.seen(session[:64])
            if refusal := self.refusal(path, data):
                return refusal, receive
        VISITOR.set(Visitor(VISITOR.get().address, session[:64]))
        # The body was taken from the connection to be looked at; the app gets it as one message.
        messages = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive_again() -> Message:
            return messages.pop() if messages else await receive()

        return None, receive_again

    def refusal(self, path: str, data: JsonObject) -> Response | None:
        """The answer to a call of the tool that is wrong, as its protocol has it; of anything else
        `Rejected` is raised."""
        if path != f"{API}/mcp":
            self.checks(path.removeprefix(API), data)
        elif data.get("method") == "tools/call":
            # Each call takes a thread until it ends, so one subnet cannot take all of them.
            subnet = VISITOR.get().subnet
            try:
                self.checks.call(data)
                if self.calls[subnet] >= CALLS_OF_SUBNET or self.calls.total() >= CALLS:
                    raise Rejected(429, MANY_CALLS)
            except Rejected as error:
                content = {"content": [{"type": "text", "text": error.args[1]}], "isError": True}
                return JSONResponse({"jsonrpc": "2.0", "id": data.get("id"), "result": content})
        return None

    async def call_tool(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a call of the tool, and count it meanwhile."""
        subnet = VISITOR.get().subnet
        self.calls[subnet] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.calls[subnet] -= 1

    async def read_body(self, scope: Scope, receive: Receive, limit: int) -> bytes:
        """The body of a request, counted as it arrives, and waited for no longer than
        `limits.BODY_SECONDS`; nothing else waits for it."""
        length = Headers(scope=scope).get("content-length", "0")
        subnet = VISITOR.get().subnet
        body = bytearray()
        more = True
        # More digits than fit into a number of bytes would cost time to read as one.
        too_large = not length.isdigit() or len(length) > 18 or int(length) > limit
        try:
            async with asyncio.timeout(limits.BODY_SECONDS):
                while more and not too_large:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise Rejected(400, "The request was incomplete.")
                    body += message.get("body", b"")
                    self.received[subnet] += len(message.get("body", b""))
                    more = message.get("more_body", False)
                    too_large = len(body) > limit
                    if (
                        self.received[subnet] > RECEIVED_OF_SUBNET
                        or self.received.total() > RECEIVED
                    ):
                        raise Rejected(429, "Too much is being sent. Try again in a minute.")
        except TimeoutError:
            seconds = f"{limits.BODY_SECONDS:g} s"
            raise Rejected(408, f"A request must arrive within {seconds}.") from None
        finally:
            # Counted while it arrives only: what has arrived is bounded by `limits.BODY`.
            self.received[subnet] -= len(body)
            self.received += Counter()  # without those that are done
        if too_large:
            raise Rejected(413, f"A request may have at most {limit:,} bytes.")
        return bytes(body)

    def with_client(self, scope: Scope, path: str) -> Scope:
        """The request with the address of its client, which a call of the tool passes on: gradio
        sends it to itself. What a proxy adds is left out where no trusted one did."""
        headers = scope["headers"]
        forwarded = [value for name, value in headers if name == b"x-forwarded-for"]
        if self.last_hop and forwarded:
            address = forwarded[-1].decode("latin-1").rpartition(",")[2].strip()[:64]
            scope = {**scope, "client": (address, 0)}
        client = scope.get("client")
        # The port of a client is 0 where a trusted proxy named it.
        if not client or client[1] != 0:
            headers = [pair for pair in headers if pair[0] != b"x-forwarded-host"]
        if client and path == f"{API}/mcp":
            headers = [pair for pair in headers if pair[0] != b"x-forwarded-for"]
            headers = [*headers, (b"x-forwarded-for", client[0].encode())]
        return {**scope, "headers": headers}

    def with_headers(self, scope: Scope, send: Send, whole: bool) -> Send:
        """Send answers with the headers that protect them; the page itself as a `whole`, because
        its policy names its scripts."""
        origin = urlsplit(Headers(scope=scope).get("origin", "")).netloc
        start: list[Message] = []
        page = bytearray()

        async def send_protected(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers["Content-Security-Policy"] = POLICY
                headers.update(SAFE)
                if not self.hosts.allow(origin):
                    for name in [name for name in headers if name.startswith("access-control-")]:
                        del headers[name]
                start.append(message)
                # The policy of the page lists the hashes of its scripts, so its start waits for the
                # whole body.
                if whole:
                    return
            elif whole:
                page.extend(message.get("body", b""))
                if message.get("more_body"):
                    return
                headers = MutableHeaders(scope=start[0])
                headers["Content-Security-Policy"] = with_hashes(bytes(page))
                await send(start[0])
                message = {**message, "body": bytes(page)}
            await send(message)

        return send_protected

    def gone(self, scope: Scope, path: str) -> Response | None:
        """The answer to who asks for messages that were removed; gradio would log a traceback."""
        text = ""
        session = read_session(scope, path)
        if path == f"{API}/queue/data" and not gradio_private.has_messages(self.demo, session):
            message = UnexpectedErrorMessage(message=GONE, session_not_found=True)
            text = f"data: {message.model_dump_json()}\n\n"
        elif path.startswith(f"{API}/call/") and not gradio_private.has_event(self.demo, session):
            text = f"event: error\ndata: {json.dumps(GONE)}\n\n"
        return Response(text, media_type="text/event-stream") if text else None


def read_session(scope: Scope, path: str) -> str:
    """The page whose messages a request is to read, or the event of a call; nothing for others."""
    if scope["method"] != "GET":
        return ""
    if path == f"{API}/queue/data":
        query = parse_qs(scope["query_string"].decode("latin-1"))
        return query.get("session_hash", [""])[0]
    if path.startswith(f"{API}/call/"):
        return path.rpartition("/")[2]
    return ""
