"""A measurement for a visitor: it runs in a thread and ends within one call when the visitor leaves."""

from __future__ import annotations

from collections.abc import Iterator
from queue import SimpleQueue
from threading import Event, Thread
from typing import Any

from specviz import papers


class _Left(Exception):
    """The visitor has left."""


def remeasured(pair: Any, source: str, name: str) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Progress messages of a measurement, the last one with its data; work for `Engine.compute`.

    Raises:
        ValueError: as `papers.measured` does.
    """
    news: SimpleQueue[tuple[str, Any]] = SimpleQueue()
    left = Event()

    def report(sentence: str) -> None:
        if left.is_set():
            raise _Left
        news.put(("sentence", sentence))

    def work() -> None:
        try:
            news.put(("data", papers.measured(pair, source, name, report)))
        except Exception as error:
            news.put(("error", error))

    thread = Thread(target=work, name="measuring", daemon=True)
    thread.start()
    try:
        while True:
            kind, value = news.get()
            if kind == "error":
                raise value
            yield (value, None) if kind == "sentence" else ("Measured.", value)
            if kind == "data":
                return
    finally:
        left.set()
        thread.join(10)
