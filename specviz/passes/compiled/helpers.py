"""Threads that help with a compiled pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from queue import SimpleQueue
from threading import Lock, Thread
from typing import Any

import numpy as np
import torch

FAILED = -1  # the counter that is set where a thread failed, so that no other waits for it

_jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
_threads: list[Thread] = []
_lock = Lock()


def run_with_helpers(
    work: Callable[..., Any], helpers: int, counters: np.ndarray, *arguments: Any
) -> None:
    """Run work here, and in so many other threads as soon as they wake up.

    Args:
        work: takes `counters` and `arguments`, releases the GIL, and returns at once where nothing
            is left to do: a helper may come late.
        helpers: how many other threads.
        counters: zeros, by which the work is shared out; the one at `FAILED` ends all waiting.
        arguments: of the work.

    Raises:
        BaseException: what the work raised, in whichever thread.
    """
    errors: list[BaseException] = []

    def job() -> None:
        try:
            work(counters, *arguments)
        except BaseException as error:
            errors.append(error)
            counters[FAILED] = 1

    if helpers:
        with _lock:
            # A process that was forked has the list but none of its threads.
            _threads[:] = [thread for thread in _threads if thread.is_alive()]
            while len(_threads) < helpers:
                _threads.append(Thread(target=_help, daemon=True, name="compiled passes"))
                _threads[-1].start()
    for _ in range(helpers):
        _jobs.put(job)
    # This thread works as well: with one core there are no helpers at all.
    job()
    if errors:
        raise errors[0]


def _help() -> None:
    while True:
        _jobs.get()()


def _begin_again() -> None:
    """Threads do not live on in a fork; torch would wait for its own forever."""
    torch.set_num_threads(1)
    global _jobs, _lock
    _jobs, _lock = SimpleQueue(), Lock()
    _threads.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_again)
