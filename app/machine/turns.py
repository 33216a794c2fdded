"""Scheduling of computation: a step of a run is timed, so nothing else may compute during it.

A run takes a turn for every step. Other work in this process, such as a check of what a visitor set, waits for the end
of the step and is done before the next, so clocks never count it. Both alternate where both wait.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition
from time import monotonic

PATIENCE = 5.0  # seconds that other work waits for a step; one that takes longer is hardly disturbed
PAUSE = 0.5  # seconds without a step after which no run is under way


class Turns:
    """One thing at a time, steps and other work in turn."""

    def __init__(self) -> None:
        self._free = Condition()
        self._busy = self._step_is_due = False
        self._steps = self._others = 0  # that wait
        self._stepped = -PAUSE

    @property
    def under_way(self) -> bool:
        """Whether a run is decoding."""
        return self._steps > 0 or monotonic() - self._stepped < PAUSE

    @contextmanager
    def step(self) -> Iterator[None]:
        """A step of a run, or a part of a measurement."""
        with self._free:
            self._steps += 1
            self._free.wait_for(lambda: not self._busy and (self._step_is_due or not self._others))
            self._steps -= 1
            self._busy = True
        try:
            yield
        finally:
            self._stepped = monotonic()
            self._end(step_is_due=False)

    @contextmanager
    def other(self, patience: float = PATIENCE) -> Iterator[None]:
        """Other work; after `patience` seconds it waits no longer."""
        with self._free:
            self._others += 1
            mine = self._free.wait_for(lambda: not self._busy and not (self._step_is_due and self._steps), patience)
            self._others -= 1
            self._busy = self._busy or mine
            self._free.notify_all()
        try:
            yield
        finally:
            if mine:
                self._end(step_is_due=True)

    def _end(self, step_is_due: bool) -> None:
        with self._free:
            self._busy, self._step_is_due = False, step_is_due
            self._free.notify_all()


TURNS = Turns()  # a machine has one, whatever runs on it
