"""How a command watches a measurement: a bar on a terminal, and Ctrl-C that keeps what is known."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from tqdm import tqdm

from ..measure.so_far import Known, SoFar, whole


class News(Protocol):
    """What a measurement yields, piece by piece: how many pieces are done, of how many."""

    @property
    def done(self) -> int: ...

    @property
    def of(self) -> int: ...


AnyNews = TypeVar("AnyNews", bound=News)


def watched(news: Iterable[AnyNews], what: str) -> Iterator[AnyNews]:
    """Pass news on, with a bar where standard error is a terminal.

    Args:
        news: the measurement.
        what: its pieces in the plural, "runs" say.
    """
    with tqdm(unit=f" {what}", leave=False, disable=None) as bar:
        for one in news:
            bar.total = one.of
            bar.update(one.done - bar.n)
            with tqdm.external_write_mode():  # whoever watches may print
                yield one


def until_stopped(news: Iterable[SoFar[Known | None]], what: str) -> tuple[SoFar[Known], bool]:
    """The last news of a measurement, and whether Ctrl-C ended it early.

    Args:
        news: the measurement.
        what: its pieces in the plural, "runs" say.

    Raises:
        KeyboardInterrupt: if it was ended before anything was known.
        ValueError: if it yields nothing that is known.
    """
    last: deque[SoFar[Known | None]] = deque(maxlen=1)
    stopped = False
    try:
        last.extend(watched(news, what))
    except KeyboardInterrupt:
        if not last or not last[0].known:
            raise
        stopped = True
        print(f"\nstopped: what follows is from {last[0].done} of {last[0].of} {what} measured so far", file=sys.stderr)
    known = whole(last)
    return SoFar(last[0].done, last[0].of, known), stopped
