"""A run on its way from a handler of the page through the queue to the thread that computes, and
back."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from specviz.models.base import Pair

from . import limits, zero_gpu
from .loading import Loading
from .pair_ref import PairRef
from .queue import Visitor

Item = TypeVar("Item")


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
        others_wait: whether anybody waits.
        load: returns the pair, in any process.
    """

    pair: Pair | None
    others_wait: Callable[[], bool] = lambda: False
    load: Callable[[], Pair] | None = None

    def compute(
        self, work: Callable[..., Iterator[Item]], *args: object, tokens: int = limits.TOKENS
    ) -> Iterator[Item]:
        """The items of work(pair, *args), computed where the models are: here, or on ZeroGPU.

        Args:
            work: a function of a module that returns an iterator.
            args: plain data that can travel to another process.
            tokens: how many it decodes at most, for which a GPU is borrowed.
        """
        if self.pair is None and self.load:
            return zero_gpu.compute(tokens, self.load, work, *args)
        return work(self.pair, *args)


@dataclass(eq=False)
class QueuedRun:
    """A run from its place in the queue to its last item."""

    visitor: Visitor
    ref: PairRef
    work: Callable[..., Iterator[object]]
    args: tuple[object, ...]
    loop: asyncio.AbstractEventLoop
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    pair: Pair | None = None  # its models, once it may compute
    items: Iterator[Any] | None = None  # once it has started
    sent: deque[Any] = field(default_factory=deque)  # what its page has not got yet
    loading: Loading | None = None  # how far its pair is, where it waits for that
    error: Exception | None = None
    over: bool = False  # its page gets no more, and the thread stops after the step that it is in

    def send(self, item: object) -> None:
        """Give its page an item."""
        self.sent.append(item)
        self.tell()

    def end(self, error: BaseException | None = None) -> None:
        """It is over, whoever says so; what was sent before is still delivered."""
        if error is not None and not isinstance(error, Exception):
            error = RuntimeError(repr(error))  # it would end the server's own thread
        self.error = self.error or error  # the first one is the reason
        self.over = True
        self.tell()

    def tell(self) -> None:
        """Wake its handler, which waits in the thread of the server."""
        try:
            self.loop.call_soon_threadsafe(self.changed.set)
        except RuntimeError:  # the server has ended
            self.over = True
