"""Runs that are stored, so that a visitor can save them by a name that cannot be guessed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from threading import Lock

from specviz.record.step import Step
from specviz.record.trace import PairedSpeedup, Trace

BYTES = 32_000_000  # compressed; a run of 64 steps with trees of 33 nodes takes about 70 kB
GONE = (
    "This run is no longer stored. Press Run to decode it again; the same seed gives the same text."
)


@dataclass
class GrowingRun:
    """A run while it decodes.

    Args:
        name: under which it is stored.
        blank: the trace before its first step.
        steps, speedup: what is known so far.
        ended: whether it came to its end by itself.
    """

    name: str
    blank: Trace
    steps: list[Step] = field(default_factory=list)
    speedup: PairedSpeedup | None = None
    ended: bool = False

    @property
    def trace(self) -> Trace:
        """The run as far as it got."""
        steps = tuple(self.steps)
        full = sum(len(step.emitted) for step in steps) >= self.blank.config.max_new_tokens
        stop = "end of text or context" if self.ended else "stopped"
        if full:
            stop = "length"
        return replace(self.blank, steps=steps, stop=stop, speedup=self.speedup)


class RunStore:
    """Runs by name, up to a limit in bytes beyond which the oldest goes; those that ship with the
    page are always there."""

    def __init__(self, limit: int = BYTES) -> None:
        self._growing: dict[str, GrowingRun] = {}
        self._stored: dict[str, bytes] = {}
        self._shipped: dict[str, Callable[[], str]] = {}
        self._limit = limit
        self._lock = Lock()

    def ship(self, name: str, read: Callable[[], str]) -> None:
        """Have a run that ships with the page under this name; `read` returns its JSON."""
        self._shipped[name] = read

    def begin(self, blank: Trace) -> GrowingRun:
        """A run under a new name, which may be saved while it decodes; `end` packs it."""
        run = GrowingRun(new_name("run"), blank)
        self._growing[run.name] = run
        return run

    def end(self, run: GrowingRun) -> None:
        """Pack a run of `begin`, as far as it got."""
        # Packed only now: while it grows its steps are the objects that the run has anyway.
        if run.steps:
            self.put(run.name, zlib.compress(run.trace.to_json().encode()))
        del self._growing[run.name]

    def put(self, name: str, packed: bytes) -> None:
        """Store a compressed run."""
        with self._lock:
            self._stored[name] = packed
            while self.size > self._limit:
                del self._stored[next(iter(self._stored))]

    def text(self, name: object) -> str:
        """A run as JSON; raises a `ValueError` if there is none of that name."""
        name = name if isinstance(name, str) else ""
        if name in self._shipped:
            return self._shipped[name]()
        # A run that still decodes is saved as far as it got.
        growing = self._growing.get(name)
        if growing is not None and growing.steps:
            return growing.trace.to_json()
        stored = self._stored.get(name)
        if stored is None:
            raise ValueError(GONE)
        return zlib.decompress(stored).decode()

    @property
    def size(self) -> int:
        """Bytes that are stored, compressed."""
        return sum(map(len, self._stored.values()))


def new_name(kind: str) -> str:
    """A name that cannot be guessed."""
    return f"{kind} {token_urlsafe(12)}"
