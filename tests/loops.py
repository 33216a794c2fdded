"""A coroutine from a test that is none, and waiting for a condition instead of a time."""

import asyncio
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

WAIT = 120  # seconds, for a machine that is busy with something else


def in_a_loop(coroutine: Coroutine) -> Any:
    """What a coroutine returns, run in a thread of its own: a browser's loop may be running in this
    one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


class SameProcess:
    """Computes here what a `Process` computes elsewhere, without the seconds that one takes to
    load libraries."""

    def __call__(self, work: Callable[..., Any], *args: Any) -> Any:
        return work(*args)

    def end(self) -> None:
        pass


def until(condition: Callable[[], Any]) -> None:
    """Return when a condition holds; other threads or processes see to it."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "what was waited for did not happen"
        time.sleep(0.01)


async def until_later(condition: Callable[[], Any]) -> None:
    """The same in a coroutine: the other tasks of its loop go on meanwhile."""
    end = time.monotonic() + WAIT
    while not condition():
        assert time.monotonic() < end, "what was waited for did not happen"
        await asyncio.sleep(0.01)


def one_pair(load, load_ref=None):
    """Pairs of a page that has one, which `load()` returns, or `load_ref(ref)`."""
    from app.service.loading import Offer
    from app.service.pairs import Pairs

    def loads(ref, loading):
        return load_ref(ref) if load_ref else load()

    return Pairs({"This pair": Offer("This pair", loads, has_disk=False)})


def is_idle(demo: Any) -> bool:
    """Whether no event of gradio waits or computes."""
    return not (len(demo._queue) or any(demo._queue.active_jobs))


def is_busy(service):
    """Whether a run computes, waits or loads its pair."""
    with service._changed:
        return bool(len(service._queue) or service._admitted or service._left)
