"""Where requests that are not runs compute: what may take long in a process of its own, small
checks in one thread.

A thread would slow down every run: while it holds the interpreter, a step that gives it up must
wait to get it back.
"""

from __future__ import annotations

import asyncio
import atexit
import json
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import Future
from contextlib import asynccontextmanager, contextmanager
from functools import wraps
from threading import Lock
from typing import Any

import gradio as gr

from . import limits
from .queue import FULL, ORDER, Order, Visitor, current_visitor
from .worker import Worker

PATIENCE = 5.0  # seconds that a check waits for a step; one that takes longer is hardly disturbed


class Full(ValueError):
    """The queue is full."""


class Slots:
    """Places where `size` visitors compute at once, in the same order as runs, while at most
    `limit` wait."""

    def __init__(self, size: int, limit: int = limits.QUEUE, order: Order = ORDER) -> None:
        self._free, self._limit, self._order = size, limit, order
        self._waiting: list[tuple[Visitor, Future[None]]] = []
        self._lock = Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a place, and hold it; raises `Full` if others go first and too many wait."""
        place = (current_visitor(), Future[None]())
        with self._lock:
            self._waiting.append(place)
            self._fill()
            if len(self._waiting) > self._limit:
                last = self._order.sort(self._waiting, lambda one: one[0])[-1]
                self._waiting.remove(last)
                last[1].set_exception(Full(FULL.format(self._limit)))
        try:
            await asyncio.wrap_future(place[1])
        except asyncio.CancelledError:
            with self._lock:
                if place in self._waiting:
                    self._waiting.remove(place)
                elif not place[1].cancelled() and not place[1].exception():
                    self._leave()
            raise
        try:
            yield
        finally:
            with self._lock:
                self._leave()

    def _leave(self) -> None:
        self._free += 1
        self._fill()

    def _fill(self) -> None:
        while self._free and self._waiting:
            visitor, ready = first = self._order.sort(self._waiting, lambda one: one[0])[0]
            self._waiting.remove(first)
            if ready.set_running_or_notify_cancel():
                self._free -= 1
                self._order.serve(visitor)
                ready.set_result(None)


_worker = Worker(limits.SECONDS)
_worker_turns, _check_turns = Slots(1), Slots(1)
_next, _machine = Lock(), Lock()
atexit.register(_worker.end)


@contextmanager
def machine_turn(patience: float = -1) -> Iterator[None]:
    """Compute while nobody else does: a step of a run, whose time is measured, or a check; they
    take turns.

    After `patience` seconds it computes all the same; -1 waits for as long as it takes.
    """
    with _next:
        acquired = _machine.acquire(timeout=patience)
    try:
        yield
    finally:
        if acquired:
            _machine.release()


async def run_in_worker(work: Callable[..., Any], *args: Any) -> Any:
    """What work(*args) returns, computed in the other process in turn; raises `Full`, and errors as
    `Worker` does."""
    async with _worker_turns.turn():
        return await _worker(work, *args)


async def run_in_thread(work: Callable[..., Any], *args: Any, **more: Any) -> Any:
    """What work(*args, **more) returns, computed here in turn between two steps of a run; raises
    `Full`."""

    def compute() -> Any:
        with machine_turn(PATIENCE):
            return work(*args, **more)

    async with _check_turns.turn():
        return await asyncio.to_thread(compute)


def server_function(work: Callable[[Any], str]) -> Callable[..., Any]:
    """A function that the page's scripts call, computed in the other process; its answer or
    {"error"}, as JSON."""

    @wraps(work)
    async def answer(data: Any) -> str:
        try:
            return await run_in_worker(work, data)
        except ValueError as error:
            return json.dumps({"error": str(error)})

    return answer


def check(work: Callable[..., Any]) -> Callable[..., Any]:
    """A handler of the page that is not queued, computed in turn and never in a thread of the
    server."""

    @wraps(work)
    async def answer(*args: Any, **more: Any) -> Any:
        try:
            return await run_in_thread(work, *args, **more)
        except Full as error:
            raise gr.Error(str(error), print_exception=False) from None

    return answer
