"""Requests other than runs: a limited queue with a share for each client, and one worker.

`BESIDE` computes in a process of its own and takes whatever may take long; `BETWEEN` computes here, between two
steps of a run, and takes the many small checks of the page. What waits is awaited, so it holds no server thread.
"""

from __future__ import annotations

import asyncio
import atexit
import json
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from functools import partial, wraps
from threading import Condition, Thread
from time import perf_counter, sleep
from typing import Any

import gradio as gr

from . import limits
from .run_queue import asking
from .turns import TURNS
from .worker import Worker

IDLE = 300.0  # seconds without work after which the process is ended and its memory is free again
REST = 3.0  # times as long as it took does a check rest while there is a run, which so keeps three quarters of the time


class Full(ValueError):
    """The queue is full."""


class Pool:
    """One thing at a time, clients in turn.

    Args:
        compute: called with the work and its arguments, in a thread of the pool.
        end: called when there was nothing to do for `IDLE` seconds.
        most: how many may wait.
        share: how many of them may be of one client.
    """

    def __init__(
        self,
        compute: Callable[..., Any],
        end: Callable[[], None] = lambda: None,
        most: int = limits.QUEUE,
        share: int = limits.SHARE,
    ) -> None:
        self._compute, self._end, self._most, self._share = compute, end, most, share
        self._lines: dict[str, deque[tuple[Future, Callable, tuple]]] = {}  # the client whose turn is next comes first
        self._news, self._works = Condition(), False

    async def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        """The result of work(*args), when it is its turn.

        Raises:
            Full: if the queue is full.
            Exception: whatever the work raises.
        """
        return await asyncio.wrap_future(self.put(asking(), work, args))

    def put(self, who: str, work: Callable[..., Any], args: tuple) -> Future:
        """Let work wait for its turn."""
        done: Future = Future()
        with self._news:
            mine = self._lines.get(who, deque())
            if len(mine) >= self._share:
                raise Full(f"{self._share} of your requests are already waiting. Try again when one is answered.")
            if sum(map(len, self._lines.values())) >= self._most:
                raise Full(f"The queue is full ({self._most} requests). Try again in a minute.")
            mine.append((done, work, args))
            self._lines[who] = mine
            self._news.notify()
            if not self._works:
                self._works = True
                Thread(target=self._serve, name="beside", daemon=True).start()
        return done

    def _serve(self) -> None:
        while True:
            with self._news:
                if not self._news.wait_for(lambda: self._lines, IDLE):
                    self._works = False
                    return self._end()
                who = next(iter(self._lines))
                line = self._lines.pop(who)
                done, work, args = line.popleft()
                if line:
                    self._lines[who] = line
            if done.set_running_or_notify_cancel():
                try:
                    done.set_result(self._compute(work, *args))
                except Exception as error:
                    done.set_exception(error)


def between(work: Callable[..., Any], *args: Any) -> Any:
    """Compute between two steps; a run that is under way is then left alone for `REST` times as long."""
    with TURNS.other():
        began = perf_counter()
        answer = work(*args)
        took = perf_counter() - began
    if TURNS.under_way:
        sleep(REST * took)
    return answer


def apart(work: Callable[[Any], str]) -> Callable[..., Any]:
    """A function that the page's scripts call, computed in the other process; its answer or {"error"}, as JSON."""

    @wraps(work)
    async def waiting(asked: Any) -> str:
        try:
            return await BESIDE(work, asked)
        except ValueError as error:
            return json.dumps({"error": str(error)})

    return waiting


def aside(work: Callable[..., Any]) -> Callable[..., Any]:
    """A handler of the page, computed between the steps of a run and never in a thread of the server."""

    @wraps(work)
    async def waiting(*args: Any, **more: Any) -> Any:
        try:
            return await BETWEEN(partial(copy_context().run, work, **more), *args)
        except Full as error:
            raise gr.Error(str(error), print_exception=False) from None

    return waiting


_worker = Worker()
atexit.register(_worker.end)
BESIDE, BETWEEN = Pool(_worker, _worker.end), Pool(between)
