"""A coroutine from a test that is none."""

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def in_a_loop(coroutine: Coroutine) -> Any:
    """What a coroutine returns, run in a thread of its own: a browser's loop may be running in this
    one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def one_pair(load, load_ref=None):
    """Pairs of a page that has one, which `load()` returns, or `load_ref(ref)`."""
    from app.service.loading import Offer
    from app.service.pairs import Pairs

    def loads(ref, loading):
        return load_ref(ref) if load_ref else load()

    return Pairs({"This pair": Offer("This pair", loads, has_disk=False)})
