"""Long measurements are generators of their progress; stop iterating to stop the measurement."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

Result = TypeVar("Result")
AnyResult = TypeVar("AnyResult", covariant=True)


@dataclass(frozen=True)
class Progress(Generic[AnyResult]):
    """How far a measurement is.

    Args:
        done, total: pieces of work.
        stage: what is being done, in a few words; "" where there is one stage only.
        result: the result so far; None, or empty, before there is any.
    """

    done: int
    total: int
    stage: str = ""
    result: AnyResult = None  # type: ignore[assignment]

    @property
    def share(self) -> float:
        """The part that is done, from 0 to 1."""
        all_of_it = self.total
        return self.done / all_of_it


def time_left(seconds: float, done: int, total: int) -> str:
    """How long the rest of a job takes, as the end of a sentence; empty while too little is done
    to say.

    Args:
        seconds: that were spent.
        done, total: pieces of work.

    >>> specviz.base.progress.time_left(6.0, 20, 100)
    ', about 24 s left'
    """
    if not 0 < done < total or seconds <= 1:
        return ""
    return f", about {seconds * (total - done) / done:.0f} s left"


def final_result(updates: Iterable[Progress[Result | None]]) -> Result:
    """The result of the last of a measurement's `updates`; a `ValueError` if there is none."""
    # Of all reports only the last is needed, and only it is kept in memory.
    last = deque(updates, maxlen=1)
    if not last or last[0].result is None:
        raise ValueError("the measurement ended without a result. Give it more to measure.")
    return last[0].result
