"""Layers as they come from disk, the next ones while one computes."""

from __future__ import annotations

import math
import mmap
import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from weakref import finalize

import numpy as np
import psutil

from ...passes.layers import Layer, Weight
from .layer_file import LayerFile, disk_errors

BUFFERS = 3  # layers in memory: the one that computes, and those that are read meanwhile
MANY = 5  # times as fast as the first: a second read that came from memory
TIMED = 1 << 25  # bytes that are timed at once
SHORT = 0.002  # seconds that say nothing about a disk


class LayerStream:
    """The layers of a file, in order, again and again; one pass at a time.

    One thread reads, and waits for the disk without computing. It goes on behind the last layer
    with the first ones, so that these are there when the next pass begins.

    Args:
        file: of the layers.
        convert: from an array [1, ...] of a layer, whose memory is soon used again, to what is
            yielded.

    Attributes:
        bytes: of all layers.
        speed: of reading, in bytes per second.
        no_layers: arrays like those of a layer, for no layer at all.

    Raises:
        ValueError: if the file cannot be read past the memory that the system keeps files in.
    """

    def __init__(
        self, file: LayerFile, convert: Callable[[np.ndarray], Weight] = lambda array: array
    ) -> None:
        self.file = file
        self.convert = convert
        self.bytes = file.bytes
        with disk_errors(file.path):
            self._fd, self._is_direct = _open(file.path)
        finalize(self, os.close, self._fd)
        self.no_layers = _arrays(np.empty(0, file.layer))
        self._lock = threading.Lock()
        self._process = 0
        self.speed = self._check_speed()

    def __len__(self) -> int:
        return self.file.count

    def is_intact(self) -> bool:
        """Whether nobody has written to the file or cut it since it was opened."""
        return self.file.is_intact(os.fstat(self._fd))

    def __iter__(self) -> Iterator[Layer]:
        """The layers of one pass; each is gone when the next is asked for. Another thread waits for
        its end.

        Raises:
            ValueError: if the file cannot be read any more.
        """
        with self._lock:
            self._begin()
            try:
                for _ in range(len(self)):
                    read, buffer = self._reads[0]
                    read.result()
                    # The buffer is used again only when the next layer is asked for, after this one
                    # has computed.
                    yield Layer(*map(self.convert, _arrays(np.frombuffer(buffer, self.file.layer))))
                    self._reads.popleft()
                    self._request(buffer)
            except BaseException:  # also where the pass is given up between two layers
                for read, _ in self._reads:
                    read.cancel()
                wait([read for read, _ in self._reads])
                self._reads.clear()
                raise

    def _begin(self) -> None:
        """Have reads under way, from the first layer on."""
        # The first pass, or the first one in a fork, where no thread lives on.
        if self._process != os.getpid():
            self._process = os.getpid()
            self._reads = deque[tuple[Future[None], mmap.mmap]]()
            self._buffers = [_buffer(self.file.layer.itemsize) for _ in range(BUFFERS)]
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="weights from disk")
        with disk_errors(self.file.path):
            if not self.is_intact():
                raise ValueError(
                    f"The layers on disk ({self.file.path.name}) were changed. Load the pair again."
                )
        if not self._reads:
            self._next = 0
            for buffer in self._buffers:
                self._request(buffer)

    def _request(self, buffer: mmap.mmap) -> None:
        """Have the next layer read."""
        # Requested ahead and in order, so one thread and a queue are enough.
        self._reads.append((self._thread.submit(self._read, self._next, buffer), buffer))
        self._next = (self._next + 1) % len(self)

    def _read(self, layer: int, buffer: mmap.mmap) -> None:
        start = layer * len(buffer)
        view = memoryview(buffer)
        with disk_errors(self.file.path):
            if not self._is_direct:
                # Else the next read of these bytes would come from memory, and say nothing about
                # the disk.
                os.posix_fadvise(self._fd, start, len(view), os.POSIX_FADV_DONTNEED)
            while view:
                count = os.preadv(self._fd, [view], start)
                if not count:
                    raise ValueError(
                        f"The layers on disk ({self.file.path.name}) were cut. Load the pair again."
                    )
                # A read may return less than was asked for.
                start = start + count
                view = view[count:]

    def _check_speed(self) -> float:
        """Bytes per second, from up to three parts of the file that are read twice."""
        size = self.file.layer.itemsize
        buffer = _buffer(size)
        each = max(1, min(len(self) // 3, TIMED // size))

        def seconds(first: int) -> float:
            began = perf_counter()
            for number in range(first, first + each):
                self._read(number, buffer)
            return perf_counter() - began

        before = _bytes_from_disk()
        parts = range(0, len(self) - each + 1, each)[:3]
        times = [seconds(first) for first in (*parts, *parts)]
        # A file that stays in memory would make the page claim a disk's speed that is none. What
        # the system counts tells: a busy disk, or one that another machine provides, may take ten
        # times as long for a first read as for a second.
        counted = _bytes_from_disk() - before
        is_kept = counted < size * each * len(parts)  # of twice as many
        if math.isnan(counted):  # then the times are all that there is
            first = median(times[: len(parts)])
            is_kept = first > SHORT and first > MANY * median(times[len(parts) :])
        if is_kept:
            raise ValueError(
                "this system keeps the file of the target's layers in memory. Set SPECVIZ_CACHE "
                "to a folder on a disk."
            )
        return size * each / median(times)


def _arrays(record: np.ndarray) -> Layer:
    return Layer(*(record[name] for name in Layer._fields))


def _open(path: Path) -> tuple[int, bool]:
    """A file's descriptor, and whether reads go past the system's memory by themselves."""
    if hasattr(os, "O_DIRECT"):
        with suppress(OSError):  # a file system without direct reads
            return os.open(path, os.O_RDONLY | os.O_DIRECT), True
    if not hasattr(os, "posix_fadvise"):
        raise ValueError(
            "offload cannot be disk: this system keeps all that is read in memory. Omit offload."
        )
    return os.open(path, os.O_RDONLY), False


def _buffer(size: int) -> mmap.mmap:
    """Memory for a layer, of which a fork gets a copy of its own."""
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    with suppress(OSError, AttributeError):
        buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer


def _bytes_from_disk() -> float:
    """What this process has had read from disks so far; not a number where the system does not
    say."""
    # Systems differ in what they lack: the method, the file, or a line of it.
    with suppress(AttributeError, OSError, ValueError, psutil.Error):
        return float(psutil.Process().io_counters().read_bytes)
    return math.nan
