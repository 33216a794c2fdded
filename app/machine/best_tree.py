"""The best tree of each pair on this machine: measured in the background, in parts that run between visitors' runs."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import lru_cache
from threading import Event, Lock, Thread
from time import monotonic, sleep
from typing import Any

from specviz.benchmarks.this_machine import measure_profile
from specviz.planning.forecast import Cell
from specviz.planning.machine_profile import MachineProfile, find_profile

from . import limits, zero_gpu

LOOK = 0.2  # seconds between two looks at a measurement that a page waits for
PAUSE = 0.02  # seconds between two parts, in which a run that waits for the machine gets it


class Best:
    """What is known of the speed of each pair on this machine.

    Args:
        first: title of the pair that is there from the start.
        take: title -> returns that pair.
        idle: holds the machine for a part of a measurement, whenever there is no run.
        on: whether anything is measured at all; never on ZeroGPU, where each call may use another GPU.
    """

    def __init__(
        self, first: str, take: Callable[[str], Any], idle: Callable[[], AbstractContextManager], on: bool
    ) -> None:
        self._take, self._idle, self.on = take, idle, on and not zero_gpu.ON
        self._known: dict[str, MachineProfile | None] = {}  # None where it cannot be known
        self._done: dict[str, Event] = {}
        self._lock = Lock()
        if self.on and (known := find_profile()):
            self._known[first] = known

    def tree(self, title: str, verifier: Any, temperature: Any, least: int = 2) -> Cell | None:
        """The best of Sequoia's trees, or None where it is not known (yet).

        Args:
            title: of the pair.
            verifier: menu name of the rule.
            temperature: the target's.
            least: nodes it must have.
        """
        known = self._known.get(title)
        return None if known is None else _best(_Same(known), str(verifier), float(temperature), least)

    def start(self, title: str) -> None:
        """Start to measure a pair in memory, or the first one; a recent profile is only checked."""
        with self._lock:
            if not self.on or title in self._done:
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
            pair = self._take(title)
            known = find_profile(pair.info) or known
            if known is not None:
                self._known[title] = known
            parts, measured = measure_profile(pair, known), None
            while measured is None:
                sleep(PAUSE)
                with self._idle():
                    measured = next(parts)
            known = measured
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
def _best(of: _Same, verifier: str, temperature: float, least: int) -> Cell:
    return of.known.best(verifier, temperature, limits.NODES, min(least, limits.NODES))
