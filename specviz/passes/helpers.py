"""Threads that help with a compiled pass, and sleep between two."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

_jobs: SimpleQueue[tuple[Callable[..., Any], tuple]] = SimpleQueue()
_threads: list[Thread] = []
_lock = Lock()


def run_with_helpers(work: Callable[..., Any], helpers: int, *arguments: Any) -> None:
    """Run `work(*arguments)` here, and beside it in so many other threads as soon as they wake up.

    Args:
        work: what shares its work out among those that run it, releases the GIL, and returns at once where nothing is
            left: a helper may come late.
        helpers: how many other threads.
        arguments: of the work.
    """
    if len(_threads) < helpers:
        _start(helpers)
    for _ in range(helpers):
        _jobs.put((work, arguments))
    work(*arguments)


def _start(helpers: int) -> None:
    with _lock:
        while len(_threads) < helpers:
            _threads.append(Thread(target=_help, daemon=True, name="compiled passes"))
            _threads[-1].start()


def _help() -> None:
    while True:
        work, arguments = _jobs.get()
        work(*arguments)
        del work, arguments


def _begin_again() -> None:
    """Threads do not live on in a fork."""
    global _jobs, _lock
    _jobs, _lock = SimpleQueue(), Lock()
    _threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
