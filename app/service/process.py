"""Another process, of low priority, for what is no run: exports, files, labs, visitors' tokenizers.

A thread would slow down every run, and could not be stopped. The process computes one request at a
time, has limits of time and memory, and may die: the next request starts another. This module is
all that the process imports first, so it knows neither gradio nor numpy.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from threading import Lock, Thread
from time import sleep
from typing import TypeVar

from .queue import Call, FairQueue, Visitor
from .worker import Worker

Answer = TypeVar("Answer")
REQUESTS = 100  # after which another process takes its place, so that its memory does not grow
NICE = 10  # a run that wants the same core has nine tenths of it, and nothing starves
MEMORY = 3 << 30  # bytes
STARTS = 60  # seconds that a process may take until it is there
WAITS = 3  # times its CPU time that a request may take, for one that waits or is stopped
TOO_LONG = "A request may use at most {} s of CPU time. Reduce the input."
SILENT = "There was no answer within {} s. Try again when the machine is less busy."
TOO_MUCH = f"A request may use at most {MEMORY >> 30} GB of memory. Reduce the input."
LOST = "This was not computed: its process ended, perhaps because memory ran out. Reduce the input."


class Process:
    """The process, started at its first request; each request may use `seconds` of CPU time."""

    def __init__(self, seconds: int) -> None:
        self._seconds = seconds
        self._left = 0
        self._lock = Lock()
        self._process: SpawnProcess | None = None
        self._pipe: Connection  # to the process, where there is one

    def __call__(self, work: Callable[..., Answer], *args: object) -> Answer:
        """What work(*args) returns, where both can travel to another process.

        Raises:
            ValueError: from the work, or because it takes too long or the process ended.
            RuntimeError: with the text of any other exception.
        """
        with self._lock:
            try:
                self._ready()
                self._pipe.send((work, args))
                # The process limits its own CPU time. One that sleeps, or that the system stopped,
                # uses none, so it is also waited for only so long.
                if not self._pipe.poll(WAITS * self._seconds):
                    self._end()
                    raise ValueError(SILENT.format(WAITS * self._seconds))
                # What comes back is an answer, or an exception that is raised here.
                success, answer = self._pipe.recv()
            except (EOFError, OSError):
                self._end()
                raise ValueError(LOST) from None
        if success:
            return answer
        raise answer

    def end(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            self._end()

    def _ready(self) -> None:
        if self._process and self._left and self._process.is_alive():
            self._left -= 1
            return
        from specviz.config.plugins import sources

        self._end()
        # Not a fork: that would copy locks which threads of this process may hold just now.
        context = get_context("spawn")
        self._pipe, other = context.Pipe()
        arguments = (other, os.getpid(), self._seconds, sources())
        self._process = context.Process(target=serve, args=arguments, daemon=True)
        self._process.start()
        other.close()
        # This request is the first of them.
        self._left = REQUESTS - 1
        if not (self._pipe.poll(STARTS) and self._pipe.recv()):
            self._end()

    def _end(self) -> None:
        if self._process:
            self._pipe.close()
            self._process.kill()
            self._process.join()
        self._process = None


class Requests:
    """What waits for a `Process`, in fair order; a thread hands one after the other over."""

    def __init__(self, process: Process, limit: int) -> None:
        self.process = process
        self._waiting: FairQueue[Call] = FairQueue(limit)
        self._worker = Worker("requests", self._next)

    def submit(
        self, visitor: Visitor, work: Callable[..., Answer], *args: object
    ) -> Future[Answer]:
        """What work(*args) returns in the process, in the visitor's turn; raises `Full`."""
        answer: Future[Answer] = Future()
        with self._worker.changed:
            self._waiting.admit(visitor, Call(answer, partial(self.process, work, *args)))
            self._worker.wake()
        return answer

    async def ask(self, visitor: Visitor, work: Callable[..., Answer], *args: object) -> Answer:
        """`submit` for a handler of the server, which goes on meanwhile."""
        return await asyncio.wrap_future(self.submit(visitor, work, *args))

    def _next(self) -> Callable[[], None] | None:
        call = self._waiting.pop()
        return call and call.compute


# ---- in the process ----


def serve(pipe: Connection, parent: int, seconds: int, plugins: list[str]) -> None:
    """Compute what comes through the pipe, until it is closed."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    Thread(target=_end_with, args=(parent,), daemon=True).start()
    if hasattr(os, "nice"):
        os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page, which ends this process
    limit_memory()
    from specviz.config.plugins import load_known

    load_known(plugins)
    with suppress(EOFError, OSError):  # the page has ended
        pipe.send(True)
        while True:
            work, args = pipe.recv()
            pipe.send(compute(seconds, work, args))


def limit_memory() -> None:
    """Limit this process to `MEMORY` bytes of its own, where the system can."""
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def compute(seconds: int, work: Callable[..., object], args: tuple) -> tuple[bool, object]:
    """True and what the work returns, or False and an exception that can travel."""
    try:
        # SIGPROF counts the CPU time of all threads of the process; Windows has no such timer, and
        # there only the time in `Process` limits a request.
        if hasattr(signal, "setitimer"):
            signal.signal(signal.SIGPROF, _stop)
            signal.setitimer(signal.ITIMER_PROF, seconds)
        try:
            return True, work(*args)
        finally:
            if hasattr(signal, "setitimer"):
                signal.setitimer(signal.ITIMER_PROF, 0)
    except _Stopped:
        return False, ValueError(TOO_LONG.format(seconds))
    except RecursionError:
        return False, ValueError("What was sent is nested too deeply.")
    except MemoryError:
        return False, ValueError(TOO_MUCH)
    except ValueError as error:
        return False, ValueError(str(error))
    except BaseException:
        return False, RuntimeError(traceback.format_exc())


def _end_with(parent: int) -> None:
    """End this process when its parent has ended, however it did."""
    while os.getppid() == parent:
        sleep(0.5)
    os._exit(0)


class _Stopped(BaseException):
    """The time of a request is over; not caught by `except Exception` within its work."""


def _stop(*_: object) -> None:
    raise _Stopped
