"""A run on its way from a handler of the page to the thread that computes, and back."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple

from . import zero_gpu
from .pair_ref import PairRef
from .queue import NOBODY, Visitor

POLL = 0.5  # seconds between two looks at what a waiting page must show
LEFT = "The page that asked for this run was closed."

log = logging.getLogger(__name__)


class Note(NamedTuple):
    """What a page shows while its run waits."""

    text: str
    done: float | None = None  # the share that is done, where there is one
    ahead: int = 0  # how many runs are before it


@dataclass(frozen=True)
class Turn:
    """What a run has while it computes.

    Args:
        pair: its models; None on ZeroGPU, where a borrowed GPU has them.
        visitor: for whom it computes.
        others_wait: whether anybody waits.
        load: returns the pair, in any process.
        note: a sentence on the pair, or nothing.
    """

    pair: Any
    visitor: Visitor = NOBODY
    others_wait: Callable[[], bool] = lambda: False
    load: Callable[[], Any] | None = None
    note: str = ""

    def compute(self, work: Callable[..., Iterator[Any]], *args: Any) -> Iterator[Any]:
        """The items of work(pair, *args), computed where the models are: here, or on ZeroGPU.

        Args:
            work: a generator function of a module.
            args: plain data that can travel to another process.
        """
        if self.pair is None and self.load:
            return zero_gpu.compute(self.load, work, args)
        return work(self.pair, *args)


@dataclass(eq=False)
class Run:
    """A run from its place in the queue to its last item."""

    visitor: Visitor
    ref: PairRef
    work: Callable[..., Iterator[Any]]
    args: tuple
    loop: asyncio.AbstractEventLoop
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    items: Iterator[Any] | None = None  # once it has begun
    sent: deque[Any] = field(default_factory=deque)  # what its page has not got yet
    loading: Any = None  # how far its pair is, where it waits for that
    error: Exception | None = None
    over: bool = False
    left: bool = False

    def send(self, item: Any) -> None:
        self.sent.append(item)
        self.tell()

    def end(self, error: BaseException | None = None) -> None:
        if error is not None and not isinstance(error, Exception):
            error = RuntimeError(repr(error))  # it would end the server's own thread
        self.error, self.over = self.error or error, True
        self.tell()

    def tell(self) -> None:
        try:
            self.loop.call_soon_threadsafe(self.changed.set)
        except RuntimeError:  # the server has ended
            self.left = True

    def close(self) -> None:
        """End its generator, which may keep what it has so far."""
        items, self.items = self.items, None
        if items is not None and hasattr(items, "close"):
            try:
                items.close()
            except BaseException:
                log.exception("a run failed as it ended")


class Stream:
    """What a run yields, and a `Note` where it has to wait, for `async with` and `async for`."""

    def __init__(self, service: Any, run: Run) -> None:
        self._service, self._run = service, run
        self._note, self._due = Note(""), 0.0

    async def __aenter__(self) -> Stream:
        await self._service.enter(self._run)
        return self

    async def __aexit__(self, *_: Any) -> None:
        self._service.leave(self._run)

    def __aiter__(self) -> Stream:
        return self

    async def __anext__(self) -> Any:
        run = self._run
        while True:
            readers = self._service.readers
            if readers and readers.have_left(run.visitor.session):
                raise ValueError(LEFT)
            if run.sent:
                return run.sent.popleft()
            if run.error:
                raise run.error
            if run.over:
                raise StopAsyncIteration
            now = monotonic()
            if now >= self._due:
                note = self._service.note(run)
                # Who is far back hears of it rarely: a message to each at every turn would take
                # more time than the turns.
                self._due = now + max(POLL, note.ahead / 5)
                if note.text and note != self._note:
                    self._note = note
                    return note
            run.changed.clear()
            if not (run.sent or run.over):
                with suppress(TimeoutError):
                    await asyncio.wait_for(run.changed.wait(), POLL)
