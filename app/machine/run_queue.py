"""The queue of runs: a share for each client, and no run without a reader.

Gradio keeps the queue. This module adds limits per client and cancels runs whose messages are not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from functools import wraps
from time import monotonic
from typing import Any

import gradio as gr
from gradio.context import LocalContext

from . import limits

ID = "machine"
MACHINE = {"concurrency_limit": 1, "concurrency_id": ID}  # of every event that decodes
UNREAD = 5.0  # seconds after which a run with unread messages is cancelled
OWN = f"This run was not started: {limits.RUNS} of your runs are already waiting. Try again when one has started."
_OVER = object()


def address(request: Any) -> str:
    """The address of a client; behind a proxy that uvicorn trusts (FORWARDED_ALLOW_IPS), the one that it names."""
    who = getattr(request, "client", None)
    return who.host if who else ""


def asking() -> str:
    """The address of the client whose event is being handled; empty where there is none."""
    return address(LocalContext.request.get(None))


def shared(blocks: gr.Blocks) -> None:
    """Let every client have at most `limits.RUNS` runs waiting in the queue of this page."""
    queue, push = blocks._queue, blocks._queue.push

    async def admitted(body: Any, request: Any, username: Any) -> Any:
        fn = blocks.fns.get(body.fn_index)
        line = queue.event_queue_per_concurrency_id.get(fn and fn.concurrency_id)
        if line and sum(address(event.request) == address(request) for event in line.queue) >= limits.RUNS:
            return False, OWN, "queue_full"
        return await push(body=body, request=request, username=username)

    queue.push = admitted


class Forwarded:
    """ASGI middleware that names the visitor in a call of the tool for agents, which gradio sends to itself.

    Args:
        app: what answers.
    """

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http" and "/gradio_api/mcp" in scope["path"] and scope.get("client"):
            rest = [(name, value) for name, value in scope["headers"] if name != b"x-forwarded-for"]
            scope = scope | {"headers": [*rest, (b"x-forwarded-for", scope["client"][0].encode())]}
        await self.app(scope, receive, send)


def waiting() -> int:
    """How many runs wait behind the current one."""
    blocks = LocalContext.blocks.get(None)
    line = blocks and blocks._queue.event_queue_per_concurrency_id.get(ID)
    return len(line.queue) if line else 0


def undisturbed(turns: Iterator[Any]) -> Iterator[Any]:
    """The items of `turns` while no run waits; then it is closed."""
    with closing(turns):  # type: ignore[type-var]
        while not waiting() and (item := next(turns, _OVER)) is not _OVER:
            yield item


def attended(run: Callable[..., Iterator[Any]]) -> Callable[..., Iterator[Any]]:
    """The same run, cancelled at the next step if it has no reader."""

    @wraps(run)
    def reading(*args: Any, **more: Any) -> Iterator[Any]:
        oldest, since = None, monotonic()
        with closing(run(*args, **more)) as items:  # type: ignore[type-var]
            for item in items:
                yield item
                first = _oldest_message()
                if first is None or first is not oldest:
                    oldest, since = first, monotonic()
                elif monotonic() - since > UNREAD:
                    return

    return reading


def _oldest_message() -> Any:
    """The time of the oldest unread message of the current page; None if it has read all."""
    blocks, request = LocalContext.blocks.get(None), LocalContext.request.get(None)
    messages = blocks and request and blocks._queue.pending_messages_per_session.get(request.session_hash)
    return messages._queue[0] if messages and messages.qsize() else None
