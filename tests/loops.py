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
