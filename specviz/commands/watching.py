"""Show a measurement in a command: progress, results as they come, and Ctrl-C that keeps the results so far."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import count
from threading import Event, Thread
from typing import Protocol, TypeVar

from tqdm import tqdm

from ..acceptance.progress import Known, SoFar, whole
from ..codec import lines as json_lines

EVERY = 30.0  # seconds between two lines of progress


class News(Protocol):
    """What a measurement yields, piece by piece: how many pieces are done, of how many."""

    @property
    def done(self) -> int: ...

    @property
    def of(self) -> int: ...


AnyNews = TypeVar("AnyNews", bound=News)


def watched(news: Iterable[AnyNews], what: str, tell: Callable[[AnyNews], str] = lambda one: "") -> Iterator[AnyNews]:
    """Pass news on, with progress on standard error: a bar on a terminal, a line every `EVERY` seconds elsewhere.

    Args:
        news: the measurement.
        what: its pieces in the plural, "runs" say.
        tell: what a line adds about the latest news.
    """
    last: deque[AnyNews] = deque(maxlen=1)

    def line(seconds: float) -> str:
        count = f"{last[0].done} of {last[0].of}" if last else "0"
        return f"{count} {what} after {seconds:.0f} s{tell(last[0]) if last else ''}"

    with (
        tqdm(unit=f" {what}", leave=False, disable=None) as bar,
        nullcontext() if sys.stderr.isatty() else spoken(line),
    ):
        for one in news:
            last.append(one)
            bar.total = one.of
            bar.update(one.done - bar.n)
            with tqdm.external_write_mode():  # the caller may print
                yield one


@contextmanager
def spoken(line: Callable[[float], str]) -> Iterator[None]:
    """Print a line on standard error every `EVERY` seconds, however long a single piece of the work takes.

    Args:
        line: makes it from the seconds since the beginning.
    """
    over = Event()

    def speak() -> None:
        for turn in count(1):
            if over.wait(EVERY):
                return
            print(line(turn * EVERY), file=sys.stderr, flush=True)

    thread = Thread(target=speak, name="progress", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def until_stopped(
    news: Iterable[SoFar[Known | None]], what: str, tell: Callable[[SoFar[Known | None]], str] = lambda one: ""
) -> tuple[SoFar[Known], bool]:
    """The last news of a measurement, and whether Ctrl-C ended it early.

    Args:
        news, what, tell: as for `watched`.

    Raises:
        KeyboardInterrupt: if it was ended before anything was known.
        ValueError: if it yields nothing that is known.
    """
    last: deque[SoFar[Known | None]] = deque(maxlen=1)
    stopped = False
    try:
        last.extend(watched(news, what, tell))
    except KeyboardInterrupt:
        if not last or not last[0].known:
            raise
        stopped = True
        print(f"\nstopped: results of {last[0].done} of {last[0].of} {what}", file=sys.stderr)
    known = whole(last)
    return SoFar(last[0].done, last[0].of, known), stopped


def shown_at_end(news: Iterable[SoFar[Known]], what: str, as_json: bool, show: Callable[[Known], None]) -> int:
    """Print what a measurement found, as JSON or with `show`; returns the exit code, 130 if Ctrl-C ended it early.

    Args:
        news, what: as for `until_stopped`.
        as_json, show: how to print it.
    """
    last, stopped = until_stopped(news, what)
    if as_json:
        print(json_lines(last.known))
    else:
        show(last.known)
    return 130 if stopped else 0
