"""How a failure reaches a visitor: as one sentence, while the traceback goes to the server's
log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from inspect import isasyncgenfunction
from typing import Any


def reason(error: Exception, log: bool = True) -> str:
    """The sentence of a `ValueError`; any other exception is not shown. A `ValueError` is logged
    only with `log`."""
    is_sentence = isinstance(error, ValueError)
    if log or not is_sentence:
        logging.getLogger(__name__).error("a run failed", exc_info=error)
    return str(error) if is_sentence else "See the server's log for the reason."


def explained(
    failed: str, answer: Callable[[str], Any], words: Callable[[ValueError], str] = str
) -> Callable[[Callable], Callable]:
    """A decorator for a function or an asynchronous generator whose failures a visitor should see
    as a sentence.

    Args:
        failed: shown before the reason where the exception is no `ValueError`.
        answer: makes of a sentence what the handler returns, or yields at its end; it may raise.
        words: the sentence of a `ValueError`.
    """

    def end(error: Exception) -> Any:
        if isinstance(error, ValueError):
            return answer(words(error))
        return answer(f"{failed} {reason(error)}")

    def decorate(work: Callable) -> Callable:
        @wraps(work)
        def handler(*args: Any, **more: Any) -> Any:
            try:
                return work(*args, **more)
            except Exception as error:
                return end(error)

        @wraps(work)
        async def stream(*args: Any, **more: Any) -> Any:
            try:
                async for item in work(*args, **more):
                    yield item
            except Exception as error:
                yield end(error)

        return stream if isasyncgenfunction(work) else handler

    return decorate
