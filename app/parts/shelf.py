"""Runs that are kept for a while so that a visitor can save them, and runs opened from a file.

A run has a name that cannot be guessed; only a visitor who knows it can save the run. The shelf is limited in bytes,
and nothing stays longer than `KEPT_SECONDS`. If it is full, the visitor with the most data loses the oldest run, so
one visitor's files do not remove another's run.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from functools import partial
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from typing import Any

from gradio.context import LocalContext

from specviz import Step, Trace
from specviz.player import FORMATS
from specviz.record_parts import PairedSpeedup

from ..machine.request_queue import BESIDE, BETWEEN
from .uploads import exported, shown

KEPT_SECONDS = 1800
KEPT_BYTES = 32_000_000  # compressed; a run of 64 steps with trees of 33 nodes takes about 70 kB
OPENED_BYTES = 4_000_000  # of a file; such a run takes about 300 kB
GONE = "This run is no longer stored. Press Run to decode it again; the same seed gives the same text."


def visitor() -> int:
    """The session that asks, as a number: gradio has a configuration of the page for each."""
    return id(LocalContext.blocks_config.get(None))


@dataclass
class Kept:
    """A run on the shelf: its steps while it may still grow, compressed JSON from then on.

    Args:
        blank: the trace as it was before its first step; None where it came whole.
        steps: to be added to while it runs.
        ended: whether it came to its own end.
        speedup: over plain decoding, once it was measured.
        owner: whose it is.
    """

    blank: Trace | None
    steps: list[Step] = field(default_factory=list)
    ended: bool = False
    speedup: PairedSpeedup | None = None
    packed: bytes = b""
    until: float = field(default_factory=lambda: monotonic() + KEPT_SECONDS)
    owner: int = field(default_factory=lambda: visitor())

    def text(self) -> str:
        """The trace as JSON, as far as it got."""
        if self.packed:
            return zlib.decompress(self.packed).decode()
        assert self.blank  # what came whole is packed
        steps = tuple(self.steps)
        full = sum(len(step.emitted) for step in steps) >= self.blank.config.max_new_tokens
        stop = "length" if full else "end of text or context" if self.ended else "stopped"
        return replace(self.blank, steps=steps, stop=stop, speedup=self.speedup).to_json()

    def pack(self) -> None:
        """Compress the trace, once its run is over."""
        if not self.packed:
            self.packed = zlib.compress(self.text().encode())
            self.steps = []


class Shelf:
    """Runs by name, the oldest first; those that ship with the page are there permanently."""

    def __init__(self, most: int = KEPT_BYTES) -> None:
        self._kept: dict[str, Kept] = {}
        self._always: dict[str, Callable[[], str]] = {}
        self._most, self._lock = most, Lock()

    def always(self, name: str, read: Callable[[], str]) -> None:
        """Have a run that ships with the page under this name; `read` returns its JSON."""
        self._always[name] = read

    def begin(self, name: str, blank: Trace) -> Kept:
        """Add a run that begins now; the previous one has ended, because there is one run at a time."""
        kept = Kept(blank)
        with self._lock:
            for other in self._kept.values():
                other.pack()
            self._kept[name] = kept
            self._tidy()
        return kept

    def put(self, name: str, text: str) -> None:
        """Keep a run that is whole."""
        with self._lock:
            self._kept[name] = Kept(None, packed=zlib.compress(text.encode()))
            self._tidy()

    def text(self, name: Any) -> str:
        """A run as JSON.

        Raises:
            ValueError: if there is none of that name.
        """
        if isinstance(name, str) and name in self._always:
            return self._always[name]()
        with self._lock:
            self._tidy()
            kept = self._kept.get(name) if isinstance(name, str) else None
            if kept is None or not (kept.packed or kept.steps):
                raise ValueError(GONE)
            return kept.text()

    @property
    def size(self) -> int:
        """Bytes that are kept, compressed."""
        return sum(len(kept.packed) for kept in self._kept.values())

    def _tidy(self) -> None:
        for name in [name for name, kept in self._kept.items() if kept.until < monotonic()]:
            del self._kept[name]
        while self.size > self._most:
            shares = Counter[int]()
            for kept in self._kept.values():
                shares[kept.owner] += len(kept.packed)
            ((largest, _),) = shares.most_common(1)
            del self._kept[next(name for name, kept in self._kept.items() if kept.owner == largest)]


SHELF = Shelf()


def new_name(kind: str) -> str:
    """A name for a run that cannot be guessed."""
    return f"{kind} {token_urlsafe(12)}"


# ---- what the page may ask for, as may anyone ----


async def save(asked: Any) -> str:
    """A run on the shelf as a file, {"text"}, or {"error"}; as JSON.

    Args:
        asked: {"run": its name, "kind": "json" or "html"}.
    """
    try:
        asked = asked if isinstance(asked, dict) else {}
        text, kind = await BETWEEN(SHELF.text, asked.get("run")), asked.get("kind")
        if kind not in ("json", *FORMATS):
            raise ValueError(f"A run can be saved as json, {' or '.join(FORMATS)}.")
        if kind != "json":
            text = await BESIDE(exported, text, kind)
        return json.dumps({"text": text})
    except ValueError as error:
        return json.dumps({"error": str(error)})


async def open_trace(text: Any) -> str:
    """A saved run as a message to the page, or {"error"}; as JSON.

    Args:
        text: of the file, from a stranger.
    """
    return await opened_file(text, partial(BESIDE, shown), "file")


async def opened_file(text: Any, read: Callable[[str, str], Awaitable[tuple[str, str]]], kind: str) -> str:
    """What `read` makes of a file, which is then on the shelf, or {"error"}; as JSON.

    Args:
        text: of the file, from a stranger.
        read: (text, name) -> a message to the page, and the file as it is kept.
        kind: the first word of its name.
    """
    try:
        if not isinstance(text, str) or len(text.encode(errors="replace")) > OPENED_BYTES:
            raise ValueError(f"A run to open must be JSON text of at most {OPENED_BYTES / 1e6:g} MB.")
        name = new_name(kind)
        found, whole = await read(text, name)
        await BETWEEN(SHELF.put, name, whole)
        return found
    except ValueError as error:
        return json.dumps({"error": f"This file was not opened. {str(error)[:1].upper()}{str(error)[1:]}"})
