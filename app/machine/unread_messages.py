"""Unread messages of visitors, with a time limit."""

from __future__ import annotations

from asyncio import Queue
from time import monotonic
from typing import Any
from urllib.parse import parse_qs

from gradio.server_messages import UnexpectedErrorMessage
from starlette.responses import Response

from . import limits
from .guard import API, path_of

GONE = "The messages of this run were removed. Reload the page, or start the run again."


class Unread(dict):
    """Messages by session, in place of gradio's store, which keeps those of 2 000 sessions, read or not.

    Readers poll at least every ten seconds; messages of a session that did not poll for `limits.UNREAD_SECONDS`
    are removed when there is another session.

    Args:
        events: of a session that are not delivered, which go with its messages.
    """

    def __init__(self, events: dict[str, set[str]]) -> None:
        self._events, self._asked = events, dict[str, float]()

    def __contains__(self, session: Any) -> bool:
        known = super().__contains__(session)
        if known:
            self._asked[session] = monotonic()
        return known

    def __setitem__(self, session: str, messages: Any) -> None:
        now = monotonic()
        for other in [name for name, asked in self._asked.items() if asked + limits.UNREAD_SECONDS < now]:
            for kept in (self, self._events, self._asked):
                kept.pop(other, None)
        self._asked[session] = now
        super().__setitem__(session, messages)

    def __missing__(self, session: str) -> Any:
        return Queue()  # for what a run still sends to a session that is gone


class Awaited:
    """ASGI middleware that answers requests for removed messages with a sentence; gradio would log a traceback.

    Args:
        app: what answers all others.
        queue: gradio's, with the messages.
    """

    def __init__(self, app: Any, queue: Any) -> None:
        self.app, self.queue = app, queue

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        path, answer = path_of(scope), None
        sessions = self.queue.pending_messages_per_session
        if path == f"{API}/queue/data":
            if parse_qs(scope["query_string"].decode("latin-1")).get("session_hash", [""])[0] not in sessions:
                gone = UnexpectedErrorMessage(message=GONE, session_not_found=True).model_dump_json()
                answer = f"data: {gone}\n\n"
        elif path.startswith(f"{API}/call/"):
            event = path.rsplit("/", 1)[-1]
            named = event in sessions or event in self.queue.event_ids_to_events
            if scope["method"] == "GET" and not named:
                answer = f'event: error\ndata: "{GONE}"\n\n'
        whole = Response(answer, media_type="text/event-stream") if answer else self.app
        await whole(scope, receive, send)
