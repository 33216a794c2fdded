"""Runs that are stored for `SECONDS` so that a visitor who knows their unguessable name can save
them.

If the store is full, the address with the most data loses the oldest run of the session with the
most.
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from secrets import token_urlsafe
from threading import Lock
from time import monotonic
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from specviz.record.step import Step
from specviz.record.trace import PairedSpeedup, Trace

from ..machine.guard import OPEN
from ..machine.pool import run_in_thread, run_in_worker
from ..machine.queue import Visitor, current_visitor
from .uploads import KINDS, export_run, read_run

SECONDS = 1800
BYTES = 32_000_000  # compressed; a run of 64 steps with trees of 33 nodes takes about 70 kB
GONE = (
    "This run is no longer stored. Press Run to decode it again; the same seed gives the same text."
)


@dataclass
class StoredRun:
    """A run in the store: its steps while it may still grow, compressed JSON from then on."""

    blank: Trace | None  # as it was before its first step; None where the run came whole
    steps: list[Step] = field(default_factory=list)
    ended: bool = False  # by itself
    speedup: PairedSpeedup | None = None
    packed: bytes = b""
    owner: Visitor = field(default_factory=current_visitor)
    until: float = field(default_factory=lambda: monotonic() + SECONDS)

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
            self.packed, self.steps = zlib.compress(self.text().encode()), []


class RunStore:
    """Runs by name, the oldest first, up to a limit in bytes; those that ship with the page are
    always there."""

    def __init__(self, limit: int = BYTES) -> None:
        self._runs: dict[str, StoredRun] = {}
        self._shipped: dict[str, Callable[[], str]] = {}
        self._limit, self._lock = limit, Lock()

    def ship(self, name: str, read: Callable[[], str]) -> None:
        """Have a run that ships with the page under this name; `read` returns its JSON."""
        self._shipped[name] = read

    def begin(self, name: str, blank: Trace) -> StoredRun:
        """Add a run that begins now; those of the same owner have ended."""
        run = StoredRun(blank)
        with self._lock:
            for other in self._runs.values():
                if other.owner == run.owner:
                    other.pack()
            self._runs[name] = run
            self._tidy()
        return run

    def put(self, name: str, packed: bytes, owner: Visitor) -> None:
        """Store a compressed run."""
        with self._lock:
            self._runs[name] = StoredRun(None, packed=packed, owner=owner)
            self._tidy()

    def text(self, name: Any) -> str:
        """A run as JSON; raises a `ValueError` if there is none of that name."""
        if isinstance(name, str) and name in self._shipped:
            return self._shipped[name]()
        with self._lock:
            self._tidy()
            run = self._runs.get(name) if isinstance(name, str) else None
            if run is None or not (run.packed or run.steps):
                raise ValueError(GONE)
            return run.text()

    @property
    def size(self) -> int:
        """Bytes that are stored, compressed."""
        return sum(len(run.packed) for run in self._runs.values())

    def _tidy(self) -> None:
        for name in [name for name, run in self._runs.items() if run.until < monotonic()]:
            del self._runs[name]
        while self.size > self._limit:
            addresses, sessions = Counter[str](), Counter[Visitor]()
            for run in self._runs.values():
                addresses[run.owner.address] += len(run.packed)
                sessions[run.owner] += len(run.packed)
            heaviest = max(sessions, key=lambda owner: (addresses[owner.address], sessions[owner]))
            del self._runs[next(name for name, run in self._runs.items() if run.owner == heaviest)]


STORE = RunStore()


def new_name(kind: str) -> str:
    """A name for a run that cannot be guessed."""
    return f"{kind} {token_urlsafe(12)}"


# ---- what the page may ask for, as may anyone ----


async def save(data: Any) -> str:
    """A stored run as a file, from {"run": its name, "kind": one of `KINDS`}: {"text"} or
    {"error"}, as JSON."""
    try:
        data = data if isinstance(data, dict) else {}
        kind = data.get("kind")
        if kind not in KINDS:
            raise ValueError(f"A run can be saved as {' or '.join(KINDS)}.")
        text = await run_in_thread(STORE.text, data.get("run"))
        return json.dumps(
            {"text": text if kind == "json" else await run_in_worker(export_run, text)}
        )
    except ValueError as error:
        return json.dumps({"error": str(error)})


async def open_run(request: Request) -> Response:
    """A saved run, sent as it is in its file, as a message to the page, or {"error"}; as JSON."""
    name, owner = new_name("file"), current_visitor()
    try:
        message, packed = await run_in_worker(read_run, await request.body(), name)
        STORE.put(name, packed, owner)
    except ValueError as error:
        message = json.dumps(
            {"error": f"This file was not opened. {str(error)[:1].upper()}{str(error)[1:]}"}
        )
    return Response(message, media_type="application/json")


ROUTE = Route(OPEN, open_run, methods=["POST"])
