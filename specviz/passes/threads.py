"""How many threads torch uses for a pass on a CPU: the number that was fastest recently.

Threads that spin while they wait for each other are fastest on idle cores. Beside another busy program every product
waits for a thread that does not run, and one thread alone is several times faster. Which of the two holds changes from
second to second and cannot be asked for, so passes are timed as they run, and now and then one is made in another way.
Small and large passes are judged apart: for one token the memory's speed decides, for many the processor's.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median

import torch

SHARE = 0.03  # of the time that other numbers of threads may cost by being tried
BETTER = 0.9  # of the usual time: what a try must stay under to be taken for faster
KEPT, ENOUGH = 5, 2  # passes whose median is the usual time, at most and at least
SOONEST = 0.001  # seconds that a try is taken to cost at least


class Threads:
    """The number of threads for the passes of one model, for each size of a pass.

    Args:
        device: where they are computed; on anything but a CPU torch's own number stays.
        clock: seconds.
    """

    def __init__(self, device: torch.device, clock: Callable[[], float] = time.perf_counter) -> None:
        most = torch.get_num_threads()
        self.counts = sorted({1, max(1, most // 2), most}) if device.type == "cpu" else [most]
        self.clock = clock
        self._chosen: dict[int, int] = {}  # passes of about one size -> their number of threads
        self._seconds: dict[tuple[int, int], deque[float]] = {}  # size, number of threads -> those of the last passes
        self._due = dict.fromkeys(self.counts, 0.0)  # number of threads -> when it may be tried

    @property
    def count(self) -> int:
        """The number for what is computed besides passes: that of the smallest pass so far."""
        return self._chosen[min(self._chosen)] if self._chosen else self.counts[-1]

    @contextmanager
    def __call__(self, tokens: int) -> Iterator[None]:
        """Run a pass over `tokens` tokens with the best number of threads, or with one that is due for a trial."""
        size, began = tokens.bit_length(), self.clock()
        count = self._chosen.setdefault(size, self.counts[-1])
        seconds = tuple(self._seconds.get((size, count), ()))  # as they are now: another thread may clear them
        due = [n for n in self.counts if n != count and self._due[n] <= began]
        number = due[0] if due and len(seconds) >= ENOUGH else count
        with using(number):
            yield
        end = self.clock()
        trial, spent = self._seconds.setdefault((size, number), deque(maxlen=KEPT)), end - began
        trial.append(spent)
        if number == count or len(trial) < ENOUGH:  # in the first pass of a trial, threads have to wake up
            return
        cost = spent - median(seconds)
        if spent < BETTER * median(seconds):
            number, self._chosen[size] = count, number
            cost = spent  # the usual time may have been that of a cold start
        self._seconds[size, number].clear()
        self._due[number] = end + ENOUGH * max(cost, SOONEST) / SHARE  # the number that lost


@contextmanager
def using(count: int) -> Iterator[None]:
    """Run what is inside with so many threads."""
    before = torch.get_num_threads()
    if count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)
