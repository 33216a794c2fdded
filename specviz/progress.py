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


def final_result(updates: Iterable[Progress[Result | None]]) -> Result:
    """The result of the last update of a measurement.

    Args:
        updates: the measurement.

    Raises:
        ValueError: if there is none.

    >>> from specviz.progress import Progress, final_result
    >>> final_result([Progress(1, 2), Progress(2, 2, result="all")])
    'all'
    """
    last = deque(updates, maxlen=1)
    if not last or last[0].result is None:
        raise ValueError("the measurement ended without a result. Give it more to measure.")
    return last[0].result
