"""The best tree of each pair on this machine: measured in the background, in parts that run between visitors' runs."""

from __future__ import annotations

import asyncio
import logging
from functools import lru_cache
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

from specviz.benchmarks.machine_profile import MachineProfile, measuring, recall
from specviz.planning.forecast import Cell

from . import limits, zero

if TYPE_CHECKING:
    from .engine import Engine

LOOK = 0.2  # seconds between two looks at a measurement that a page waits for
PAUSE = 0.02  # seconds between two parts, in which a run that waits for the machine gets it


class Best:
    """What is known of the speed of each pair on this machine.

    Args:
        engine: has the pairs.
        on: whether anything is measured at all; never on ZeroGPU, where each call may use another GPU.
    """

    def __init__(self, engine: Engine, on: bool) -> None:
        self.engine, self.on = engine, on and not zero.ON
        self._known: dict[str, MachineProfile | None] = {}  # None where it cannot be known
        self._done: dict[str, Event] = {}
        self._lock = Lock()
        if self.on and (known := recall()):
            self._known[engine.titles[0]] = known

    def tree(self, title: str, verifier: Any, temperature: Any) -> Cell | None:
        """The best of Sequoia's trees, or None where it is not known (yet).

        Args:
            title: of the pair.
            verifier: menu name of the rule.
            temperature: the target's.
        """
        known = self._known.get(title)
        return None if known is None else _best(_Same(known), str(verifier), float(temperature))

    def start(self, title: str) -> None:
        """Start to measure a pair in memory, or the first one, unless it was measured recently."""
        with self._lock:
            known = self._known.get(title)
            if not self.on or title in self._done or (known is not None and not known.old):
                return
            self._done[title] = Event()
        Thread(target=self._measure, args=(title,), name="measuring", daemon=True).start()

    async def wait(self, title: str, seconds: float) -> None:
        """Wait for a measurement to end, up to a time limit."""
        until = monotonic() + seconds
        while title in self._done and not self._done[title].is_set() and monotonic() < until:
            await asyncio.sleep(LOOK)

    def _measure(self, title: str) -> None:
        known = self._known.get(title)
        try:
            pair = self.engine.take(title)
            known = recall(pair.info) or known
            if known is not None:
                self._known[title] = known
            parts = measuring(pair)
            while known is None or known.old:
                sleep(PAUSE)
                with self.engine.idle():
                    known = next(parts) or known
        except ValueError as error:  # no draft, say
            logging.getLogger(__name__).info("nothing was measured for %s: %s", title, error)
        except Exception:
            logging.getLogger(__name__).exception("the speed of %s could not be measured", title)
        finally:
            self._known[title] = known
            self._done[title].set()


class _Same:
    """A measurement as a key: itself and no other."""

    def __init__(self, known: MachineProfile) -> None:
        self.known = known

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.known is self.known

    def __hash__(self) -> int:
        return id(self.known)


@lru_cache(maxsize=64)
def _best(of: _Same, verifier: str, temperature: float) -> Cell:
    return of.known.best(verifier, temperature, limits.NODES)
