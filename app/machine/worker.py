"""A process of low priority that computes one request at a time, and is replaced after some of
them.

Without gradio and, until it computes, without numpy, because the process imports this module first.
"""

from __future__ import annotations

import asyncio
import os
import signal
import traceback
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from threading import Lock
from typing import Any

REQUESTS = 100  # after which another process takes its place, so that its memory does not grow
NICE = 10  # a run that wants the same core has nine tenths of it, and nothing starves
TOO_LONG = (
    "A request may use at most {} s of CPU time. Reduce the input (SPECVIZ_MAX_SECONDS sets the "
    "limit)."
)
LOST = "This was not computed: its process ended, perhaps because memory ran out. Reduce the input."


class Worker:
    """The process, started at its first request; each may use so many seconds of CPU time."""

    def __init__(self, seconds: int) -> None:
        self._seconds, self._lock = seconds, Lock()
        self._pool: ProcessPoolExecutor | None = None

    async def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        """What work(*args) returns, where both can travel to another process.

        Raises:
            ValueError: from the work, or because it takes too long or the process ended.
            RuntimeError: with the text of any other exception.
        """
        try:
            await asyncio.wrap_future(self._start().submit(int))
        except BrokenProcessPool:  # it was killed while it had nothing to do
            self.end()
        try:
            success, answer = await asyncio.wrap_future(
                self._start().submit(compute, self._seconds, work, args)
            )
        except BrokenProcessPool:
            self.end()
            raise ValueError(LOST) from None
        except RecursionError:
            raise ValueError("What was sent is nested too deeply.") from None
        if success:
            return answer
        raise answer

    def _start(self) -> ProcessPoolExecutor:
        from specviz.config.plugins import sources

        with self._lock:
            if self._pool is None:
                spawn = get_context("spawn")
                self._pool = ProcessPoolExecutor(
                    1, spawn, prepare, (sources(),), max_tasks_per_child=REQUESTS
                )
            return self._pool

    def end(self) -> None:
        """End the process; the next request starts another."""
        with self._lock:
            pool, self._pool = self._pool, None
        if pool is not None:
            pool.shutdown(wait=False)


def prepare(plugins: list[str]) -> None:
    """Begin in the process, with the plugins that the page has loaded."""
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    if hasattr(os, "nice"):
        os.nice(NICE)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the page, which ends this process
    from specviz.config.plugins import load_known

    load_known(plugins)


def compute(seconds: int, work: Callable[..., Any], args: tuple) -> tuple[bool, Any]:
    """True and what the work returns, or False and an exception that can travel."""
    try:
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
    except ValueError as error:
        return False, ValueError(str(error))
    except Exception:
        return False, RuntimeError(traceback.format_exc())


class _Stopped(BaseException):
    """Passes whatever catches exceptions within the work."""


def _stop(*_: Any) -> None:
    raise _Stopped
