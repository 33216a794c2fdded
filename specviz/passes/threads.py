"""How many threads a pass on a CPU uses: the number that was fastest recently.

Threads that spin while they wait for each other are fastest on idle cores. Beside another busy program every product
waits for a thread that does not run, and one thread alone is several times faster. Which of the two holds changes from
second to second and cannot be asked for, so passes are timed as they run, and now and then one is made in another way.
Small and large passes are judged apart: for one token the memory's speed decides, for many the processor's.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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
        # For passes of about one size: their number of threads, and the seconds that the last ones took.
        self._chosen: dict[int, int] = {}
        self._seconds: dict[int, deque[float]] = {}
        self._due = dict.fromkeys(self.counts, 0.0)  # number of threads -> when it may be tried

    @property
    def count(self) -> int:
        """The number for what is computed besides passes: that of the smallest pass so far."""
        return self._chosen[min(self._chosen)] if self._chosen else self.counts[-1]

    @contextmanager
    def __call__(self, tokens: int, torchs: bool = True) -> Iterator[int]:
        """Run a pass over `tokens` tokens with the best number of threads, or with one whose turn it is to be tried.

        Args:
            tokens: of the pass.
            torchs: whether they are torch's threads.

        Yields:
            The number.
        """
        size, began = tokens.bit_length(), self.clock()
        count = self._chosen.setdefault(size, self.counts[-1])
        seconds = self._seconds.setdefault(size, deque(maxlen=KEPT))
        due = [n for n in self.counts if n != count and self._due[n] <= began]
        trial = due[0] if due and len(seconds) >= ENOUGH else count
        with using(trial) if torchs else nullcontext():
            yield trial
        end = self.clock()
        if trial == count:
            seconds.append(end - began)
            return
        gap = end - began - median(seconds)
        if end - began < BETTER * median(seconds):
            trial, self._chosen[size] = count, trial
            self._seconds[size] = deque([end - began], KEPT)
        self._due[trial] = end + max(abs(gap), SOONEST) / SHARE  # the number that lost


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
