"""Long measurements are generators of results so far; stop iterating to stop the measurement."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

Known = TypeVar("Known")
Its = TypeVar("Its", covariant=True)


class SoFar(NamedTuple, Generic[Its]):
    """The progress and the results of a measurement so far.

    Args:
        done, of: pieces of work, how many of how many.
        known: the result as of now; None, or empty, as long as there is nothing to tell.
    """

    done: int
    of: int
    known: Its


def whole(news: Iterable[SoFar[Known | None]]) -> Known:
    """The final result of a measurement.

    Args:
        news: the measurement.

    Raises:
        ValueError: if that is nothing.

    >>> whole([SoFar(1, 2, None), SoFar(2, 2, "all")])
    'all'
    """
    last = deque(news, maxlen=1)
    if not last or last[0].known is None:
        raise ValueError("the measurement ended without a result. Give it more to measure.")
    return last[0].known
