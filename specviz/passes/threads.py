"""How many threads a pass on a CPU uses: the number that was fastest recently.

Threads that spin while they wait for each other are fastest on idle cores. Beside another busy program every product
waits for a thread that does not run, and one thread alone is several times faster. Which of the two holds changes from
second to second and cannot be asked for, so passes are timed as they run, and now and then one is made in another way.
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
    """The number of threads for the passes of one model.

    Args:
        device: where they are computed; on anything but a CPU torch's own number stays.
        clock: seconds.
    """

    def __init__(self, device: torch.device, clock: Callable[[], float] = time.perf_counter) -> None:
        most = torch.get_num_threads()
        self.counts = sorted({1, max(1, most // 2), most}) if device.type == "cpu" else [most]
        self.count = self.counts[-1]
        self.clock = clock
        self._last: dict[int, deque[float]] = {}  # size of a pass -> seconds of the last ones, with `count` threads
        self._due = dict.fromkeys(self.counts, 0.0)  # number of threads -> when it may be tried

    @contextmanager
    def __call__(self, tokens: int) -> Iterator[None]:
        """Run a pass over `tokens` tokens with the best number of threads, or with one whose turn it is to be tried."""
        size, began = tokens.bit_length(), self.clock()
        last = self._last.setdefault(size, deque(maxlen=KEPT))
        waiting = [n for n in self.counts if n != self.count and self._due[n] <= began] if len(last) >= ENOUGH else []
        tried = waiting[0] if waiting else self.count
        with using(tried):
            yield
        end = self.clock()
        if tried == self.count:
            last.append(end - began)
            return
        usual, seconds = median(last), end - began
        if seconds < BETTER * usual:
            tried, self.count = self.count, tried
            self._last = {size: deque([seconds], maxlen=KEPT)}
        self._due[tried] = end + max(abs(seconds - usual), SOONEST) / SHARE


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
