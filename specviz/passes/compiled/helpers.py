"""Threads that help with a compiled pass."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

FAILED = -1  # the counter that is set where a thread failed, so that no other waits for it


def run_with_helpers(work: Callable[..., Any], helpers: int, counters: np.ndarray, *arguments: Any) -> None:
    """Run work here, and in so many other threads as soon as they wake up.

    Args:
        work: takes `counters` and `arguments`, releases the GIL, and returns at once where nothing is left to do: a
            helper may come late.
        helpers: how many other threads.
        counters: zeros, by which the work is shared out; the one at `FAILED` ends all waiting.
        arguments: of the work.

    Raises:
        BaseException: what the work raised, in whichever thread.
    """

    def job() -> None:
        try:
            work(counters, *arguments)
        except BaseException:
            counters[FAILED] = 1
            raise

    jobs = [_pool.submit(job) for _ in range(helpers)]
    job()
    for helper in jobs if counters[FAILED] else ():
        helper.result()


_pool = ThreadPoolExecutor(os.cpu_count(), "compiled passes")


def _renew_pool() -> None:
    global _pool
    _pool = ThreadPoolExecutor(os.cpu_count(), "compiled passes")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_pool)  # threads do not live on in a fork
