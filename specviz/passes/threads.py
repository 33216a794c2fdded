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
        self._sizes: dict[int, _Size] = {}
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
        size, began = self._sizes.setdefault(tokens.bit_length(), _Size(self.counts[-1])), self.clock()
        waiting = [n for n in self.counts if n != size.count and self._due[n] <= began] if size.known else []
        tried = waiting[0] if waiting else size.count
        with using(tried) if torchs else nullcontext():
            yield tried
        end = self.clock()
        if (other := size.took(tried, end - began)) is not None:
            self._due[other[0]] = end + max(other[1], SOONEST) / SHARE


class _Size:
    """The number of threads for passes of about one size."""

    def __init__(self, count: int) -> None:
        self.count = count
        self._last: deque[float] = deque(maxlen=KEPT)  # seconds of the last passes with `count` threads

    @property
    def known(self) -> bool:
        """Whether it is known what a pass usually takes."""
        return len(self._last) >= ENOUGH

    def took(self, tried: int, seconds: float) -> tuple[int, float] | None:
        """Note a pass; after a try the number that lost, and the seconds that lie between the two."""
        if tried == self.count:
            self._last.append(seconds)
            return None
        usual = median(self._last)
        if seconds < BETTER * usual:
            tried, self.count = self.count, tried
            self._last = deque([seconds], maxlen=KEPT)
        return tried, abs(seconds - usual)


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
