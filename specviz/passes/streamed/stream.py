"""Layers as they come from disk, the next ones while one computes."""

from __future__ import annotations

import mmap
import os
import threading
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import NamedTuple
from weakref import finalize

import torch

from ..layers import Layer
from .layer_file import LayerFile, sentences

BUFFERS = 3  # layers in memory: the one that computes, and those that are read meanwhile
MANY = 5  # times as fast as the first that a second read must be where the first was not from memory
TIMED = 1 << 25  # bytes that are timed at once
SHORT = 0.002  # seconds that say nothing about a disk


class Place(NamedTuple):
    """Memory for a layer, and the arrays in it."""

    buffer: mmap.mmap
    layer: Layer


class LayerStream:
    """The layers of a file, in order, again and again; one pass at a time.

    One thread reads, and waits for the disk without computing. It goes on behind the last layer with the first ones,
    so that these are there when the next pass begins.

    Args:
        file: of the layers.

    Attributes:
        bytes: of all layers.
        speed: of reading, in bytes per second.
        no_layers: arrays like those of a layer, for no layer at all.

    Raises:
        ValueError: if the file cannot be read past the memory that the system keeps files in.
    """

    def __init__(self, file: LayerFile) -> None:
        self.file, self.bytes = file, file.bytes
        with sentences(file.path):
            self._fd, self._is_direct = _open(file.path)
        finalize(self, os.close, self._fd)
        self.no_layers = Layer(*(empty for _, empty in file.layout.parts))
        self._lock = threading.Lock()
        self._process = 0
        self.speed = self._check_speed()

    def __len__(self) -> int:
        return self.file.count

    def __iter__(self) -> Iterator[Layer]:
        """The layers of one pass; each is gone when the next is asked for. Another thread waits for its end.

        Raises:
            ValueError: if the file cannot be read any more.
        """
        with self._lock:
            self._begin()
            try:
                for _ in range(len(self)):
                    read, place = self._reads[0]
                    read.result()
                    yield place.layer
                    self._reads.popleft()
                    self._request(place)
            except BaseException:  # also where the pass is given up between two layers
                self._forget()
                raise

    def _begin(self) -> None:
        """Have reads under way, from the first layer on."""
        if self._process != os.getpid():  # the first pass, or the first one in a fork, where no thread lives on
            self._process, self._next, self._reads = os.getpid(), 0, deque[tuple[Future, Place]]()
            buffers = [_buffer(self.file.layout.bytes) for _ in range(BUFFERS)]
            self._places = [Place(buffer, self.file.layout.views(buffer)) for buffer in buffers]
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="weights from disk")
        with sentences(self.file.path):
            if not self.file.is_intact(os.fstat(self._fd)):
                raise ValueError(f"The layers on disk ({str(self.file.path)!r}) were changed. Load the pair again.")
        if not self._reads:
            for place in self._places:
                self._request(place)

    def _request(self, place: Place) -> None:
        """Have the next layer read."""
        self._reads.append((self._thread.submit(self._read, self._next, place.buffer), place))
        self._next = (self._next + 1) % len(self)

    def _forget(self) -> None:
        """Begin with the first layer again."""
        for read, _ in self._reads:
            if not read.cancel():
                with suppress(Exception):
                    read.result()
        self._reads.clear()
        self._next = 0

    def _read(self, layer: int, buffer: mmap.mmap) -> None:
        start, view = layer * len(buffer), memoryview(buffer)
        with sentences(self.file.path):
            if not self._is_direct:
                os.posix_fadvise(self._fd, start, len(view), os.POSIX_FADV_DONTNEED)
            while view:
                count = os.preadv(self._fd, [view], start)
                if not count:
                    raise ValueError(f"The layers on disk ({str(self.file.path)!r}) were cut. Load the pair again.")
                start, view = start + count, view[count:]

    def _check_speed(self) -> float:
        """Bytes per second, from up to three parts of the file that are read twice."""
        buffer, layer = _buffer(self.file.layout.bytes), self.file.layout.bytes
        each = max(1, min(len(self) // 3, TIMED // layer))

        def seconds(first: int) -> float:
            began = perf_counter()
            for number in range(first, first + each):
                self._read(number, buffer)
            return perf_counter() - began

        before, parts = _bytes_from_disk(), range(0, len(self) - each + 1, each)[:3]
        times = [(seconds(first), seconds(first)) for first in parts]
        read = 2 * layer * each * len(parts)
        if before is not None and (fetched := (_bytes_from_disk() or 0) - before) < read / 2:
            raise ValueError(
                f"offload cannot be disk for {str(self.file.path)!r}: the file stays in memory, as {fetched:,} bytes "
                f"came from a disk where {read:,} were read. Set SPECVIZ_CACHE to a folder on a disk."
            )
        if all(first > MANY * second and first > SHORT for first, second in times):
            first, second = times[0]
            raise ValueError(
                f"offload cannot be disk for {str(self.file.path)!r}: the file stays in memory, as a second read is "
                f"{first / second:.0f} times as fast as the first. Set SPECVIZ_CACHE to a folder on a disk."
            )
        return layer * each / median(second for both in times for second in both)


class TensorLayers:
    """The layers of a stream as tensors on a device.

    Args:
        stream: whose arrays are matrices [1, out, in] and vectors [1, n].
        dtype, device: of the tensors.
    """

    def __init__(self, stream: LayerStream, dtype: torch.dtype, device: torch.device) -> None:
        self.stream, self.dtype, self.device = stream, dtype, device

    def __len__(self) -> int:
        return len(self.stream)

    def __iter__(self) -> Iterator[Layer]:
        with closing(iter(self.stream)) as layers:  # type: ignore[type-var]  # a generator
            for layer in layers:
                yield Layer(*(
                    torch.from_numpy(array[0]).view(self.dtype).to(self.device) if array.size else None
                    for array in layer
                ))  # fmt: skip


def _open(path: Path) -> tuple[int, bool]:
    """A file's descriptor, and whether reads go past the system's memory by themselves."""
    if hasattr(os, "O_DIRECT"):
        with suppress(OSError):  # a file system without direct reads
            return os.open(path, os.O_RDONLY | os.O_DIRECT), True
    if not hasattr(os, "posix_fadvise"):
        raise ValueError("offload cannot be disk: this system keeps all that is read in memory. Omit offload.")
    return os.open(path, os.O_RDONLY), False


def _buffer(size: int) -> mmap.mmap:
    """Memory for a layer, of which a fork gets a copy of its own."""
    buffer = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):
            buffer.madvise(mmap.MADV_HUGEPAGE)
    return buffer


def _bytes_from_disk() -> int | None:
    """What this process has had read from disks so far; None where the system does not say."""
    try:
        lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("read_bytes:")), None)
