"""Protect the page: only routes that it uses, limited bodies, a content security policy with every response."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse

from . import limits

# Gradio starts the page with inline scripts and compiles the code of its events; everything else comes from here.
POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
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
READ = re.compile(
    rf"/|/config|/(theme\.css|favicon\.ico|robots\.txt|manifest\.json|pwa_icon(/\d+)?)|/(assets|static|web)/.*"
    rf"|{API}/(info|openapi\.json|startup-events|app_id|theme\.css|upload_progress|queue/(data|status)|mcp.*"
    rf"|heartbeat/\w{{1,64}}|call/(v2/)?generate/\w{{1,64}})"
)
SENT = re.compile(  # what may come with a body
    rf"{API}/(queue/join|run/predict|call/(v2/)?generate|component_server|cancel|reset|upload|mcp.*)"
)


class Rejected(Exception):
    """A rejected request: its status, and a sentence that says why."""


class Routed:
    """ASGI middleware that answers 404 to what the page does not use, and sends `POLICY` with every answer.

    Args:
        app: what answers the rest.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)

        async def with_policy(news: Any) -> None:
            if news["type"] == "http.response.start":
                MutableHeaders(scope=news)["Content-Security-Policy"] = POLICY
            await send(news)

        path, method = path_of(scope), scope["method"]
        known = method == "OPTIONS" or (READ if method in ("GET", "HEAD") else SENT).fullmatch(path)
        if not known:
            return await reject(404, "Not found.")(scope, receive, with_policy)
        await self.app(scope, receive, with_policy)


class Bounded:
    """ASGI middleware that rejects a body that is too large or fails its check, with a sentence.

    Args:
        app: what answers all others.
        most: bytes of a body; None for `limits.body` of each path.
        check: called with the path and the body, whole; raises `Rejected`.
    """

    def __init__(self, app: Any, most: int | None = None, check: Callable[[str, bytes], None] | None = None) -> None:
        self.app, self.most, self.check = app, most, check

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http" or scope["method"] in ("GET", "HEAD", "OPTIONS"):
            return await self.app(scope, receive, send)
        path = path_of(scope)
        try:
            body = await self._read(scope, receive, limits.body(path) if self.most is None else self.most)
            if self.check:
                self.check(path, body)
        except Rejected as rejected:
            return await reject(*rejected.args)(scope, receive, send)
        whole = [{"type": "http.request", "body": body, "more_body": False}]

        async def again() -> Any:
            return whole.pop() if whole else await receive()

        await self.app(scope, again, send)

    async def _read(self, scope: Any, receive: Any, most: int) -> bytes:
        """The body, counted as it arrives, so that a request cannot fill the memory."""
        length = dict(scope["headers"]).get(b"content-length", b"0")
        parts, size, more = [], 0, True
        too_large = not length.isdigit() or len(length) > 18 or int(length) > most
        while more and not too_large:
            news = await receive()
            if news["type"] == "http.disconnect":
                raise Rejected(400, "The request was incomplete.")
            parts.append(news.get("body", b""))
            size, more = size + len(parts[-1]), news.get("more_body", False)
            too_large = size > most
        if too_large:
            raise Rejected(413, f"A request may have at most {most:,} bytes.")
        return b"".join(parts)


def path_of(scope: Any) -> str:
    """The path of a request, without that of a proxy before it and without a slash at its end."""
    return scope.get("path", "").removeprefix(scope.get("root_path", "")).rstrip("/") or "/"


def reject(status: int, text: str) -> JSONResponse:
    """The answer to a rejected request."""
    return JSONResponse({"detail": text, "error": text}, status_code=status)
