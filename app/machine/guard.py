"""What a request may weigh: bodies are counted as they come, so that nobody fills this machine's memory or disk."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from . import limits


class Bounded:
    """ASGI middleware that answers 413 to a request whose body is larger than `limits.BODY` bytes.

    Args:
        app: what answers all others.
        most: bytes of a body.
    """

    def __init__(self, app: Any, most: int = limits.BODY) -> None:
        self.app, self.most = app, most

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if not length.isdigit() or len(length) > 18 or int(length) > self.most:
            return await self._refusal(scope, receive, send)
        came, answered = 0, False

        async def counted() -> Any:
            nonlocal came
            news = await receive()
            came += len(news.get("body", b""))
            if came > self.most:
                raise _TooLarge
            return news

        async def noted(news: Any) -> None:
            nonlocal answered
            answered = True
            await send(news)

        try:
            await self.app(scope, counted, noted)
        except _TooLarge:
            if not answered:
                await self._refusal(scope, receive, send)

    async def _refusal(self, scope: Any, receive: Any, send: Any) -> None:
        text = f"A request may have at most {self.most:,} bytes here."
        await JSONResponse({"detail": text, "error": text}, status_code=413)(scope, receive, send)


class _TooLarge(Exception):
    pass
