"""A pair of models that is offered, and one on its way into memory."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from threading import Event
from time import monotonic
from typing import NamedTuple

from specviz.models.base import Pair

from . import limits
from .pair_ref import PairRef
from .queue import NOBODY, Visitor

LOADING = "Loading the models. This happens once."


class Offer(NamedTuple):
    """A pair that may be chosen.

    Args:
        label: in the menu.
        load: takes a `PairRef` and the `Loading` that it may report to; returns the pair.
        has_disk: whether its weights may be on disk.
        trusted: whether its owner is that of the page; a visitor's tokenizer runs elsewhere first.
    """

    label: str
    load: Callable[[PairRef, Loading], Pair]
    has_disk: bool = True
    trusted: bool = True


class Loading:
    """A pair on its way into memory, in a thread of its own.

    Attributes:
        note: a sentence on how far it is.
        done: the share that is done, from 0 to 1; None where it is not known.
        result: the pair, once it is there.
        unwanted: set once all who waited have left.
        until: the time on the monotonic clock at which those who wait give up.
    """

    def __init__(self, ref: PairRef, visitor: Visitor = NOBODY) -> None:
        self.ref = ref
        self.visitor = visitor
        self.note = LOADING
        self.done: float | None = None
        self.result: Future[Pair] = Future()
        self.unwanted = Event()
        self.until = monotonic() + limits.LOADING
        self.waiting = 1

    def leave(self) -> None:
        """One who waited has left."""
        # Others may wait for the same pair: only the last one who leaves stops its loading.
        self.waiting -= 1
        if not self.waiting:
            self.unwanted.set()

    def report(self, done: float, message: str) -> None:
        """What `load_pair` says while it loads."""
        self.done = done
        self.note = f"{message.rstrip('.')}."
