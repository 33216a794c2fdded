"""Calls of the tool by agents: few at once; an error is returned as one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse

from . import limits
from .checks import fields
from .guard import API, Rejected, path_of

FULL = f"The limit of {limits.AGENTS} simultaneous calls is reached. Try again in a minute."


class Agents:
    """ASGI middleware that limits the number of simultaneous calls of the tool.

    Args:
        app: what answers all others.
        check: called with a call as JSON; raises `Rejected`.
        most: calls at once.
    """

    def __init__(self, app: Any, check: Callable[[dict[str, Any]], None], most: int = limits.AGENTS) -> None:
        self.app, self.check, self.most, self._under_way = app, check, most, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if path_of(scope) != f"{API}/mcp" or scope["method"] != "POST":
            return await self.app(scope, receive, send)
        news = [await receive()]  # whole, as `Bounded` hands it on
        asked = fields(news[0]["body"])

        async def again() -> Any:
            return news.pop() if news else await receive()

        if asked.get("method") != "tools/call":
            return await self.app(scope, again, send)
        try:
            self.check(asked)
            if self._under_way >= self.most:
                raise Rejected(503, FULL)
        except Rejected as rejected:
            said = {"content": [{"type": "text", "text": rejected.args[1]}], "isError": True}
            answer = JSONResponse({"jsonrpc": "2.0", "id": asked.get("id"), "result": said})
            return await answer(scope, receive, send)
        self._under_way += 1
        try:
            await self.app(scope, again, send)
        finally:
            self._under_way -= 1
