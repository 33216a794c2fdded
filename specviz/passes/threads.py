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
from dataclasses import dataclass, field
from statistics import median

import torch

SHARE = 0.03  # of the time that other numbers of threads may cost by being tried
BETTER = 0.9  # of the usual time: what a try must stay under to be taken for faster
KEPT, ENOUGH = 5, 2  # passes whose median is the usual time, at most and at least
SOONEST = 0.001  # seconds that a try is taken to cost at least


@dataclass
class Size:
    """Passes of about one size: their number of threads, and the seconds that the last ones took."""

    count: int
    seconds: deque[float] = field(default_factory=lambda: deque(maxlen=KEPT))


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
        self._sizes: dict[int, Size] = {}
        self._due = dict.fromkeys(self.counts, 0.0)  # number of threads -> when it may be tried

    @property
    def count(self) -> int:
        """The number for what is computed besides passes: that of the smallest pass so far."""
        return self._sizes[min(self._sizes)].count if self._sizes else self.counts[-1]

    @contextmanager
    def __call__(self, tokens: int, torchs: bool = True) -> Iterator[int]:
        """Run a pass over `tokens` tokens with the best number of threads, or with one whose turn it is to be tried.

        Args:
            tokens: of the pass.
            torchs: whether they are torch's threads.

        Yields:
            The number.
        """
        size, began = self._sizes.setdefault(tokens.bit_length(), Size(self.counts[-1])), self.clock()
        due = [n for n in self.counts if n != size.count and self._due[n] <= began]
        trial = due[0] if due and len(size.seconds) >= ENOUGH else size.count
        with using(trial) if torchs else nullcontext():
            yield trial
        end = self.clock()
        if trial == size.count:
            size.seconds.append(end - began)
            return
        gap = end - began - median(size.seconds)
        if end - began < BETTER * median(size.seconds):
            trial, size.count = size.count, trial
            size.seconds = deque([end - began], maxlen=KEPT)
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
