"""What every long measurement is: a generator of what is known so far, which whoever asks for no more has stopped."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Generic, NamedTuple, TypeVar

Known = TypeVar("Known")
Its = TypeVar("Its", covariant=True)


class SoFar(NamedTuple, Generic[Its]):
    """How far a measurement is, and what it knows there.

    Args:
        done, of: pieces of work, how many of how many.
        known: the result as of now; None, or empty, as long as there is nothing to tell.
    """

    done: int
    of: int
    known: Its


def whole(news: Iterable[SoFar[Known | None]]) -> Known:
    """What a measurement knows at its end.

    Args:
        news: the measurement.

    Raises:
        ValueError: if that is nothing.

    >>> whole([SoFar(1, 2, None), SoFar(2, 2, "all")])
    'all'
    """
    last = deque(news, maxlen=1)
    if not last or last[0].known is None:
        raise ValueError("the measurement ended before anything was known. Give it more to measure.")
    return last[0].known
