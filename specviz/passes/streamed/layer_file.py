"""The file of a model's layers: one behind the other in the order of reading, each aligned for direct reads.

Its name is a hash of the weights and of how they are laid out. It is written once, under another name until it is
complete. Its time of modification is a number made of the same hash, which anything that writes to it moves.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock

from ...errors import cause
from ...files import cache_folder
from ..layers import Layer

ALIGN = 4096  # bytes: what direct reads want of places in a file and in memory
SPARE = 1 << 28  # bytes that are left free on the disk

Report = Callable[[int, int], None]  # gets the layers that were written, and how many there are


class Layout:
    """Where the arrays of a layer lie in its part of the file.

    Args:
        layer: the arrays of one layer, whose shapes all layers have.
    """

    def __init__(self, layer: Layer) -> None:
        self.parts: list[tuple[int, np.ndarray]] = []  # offset, and an empty array of that type and shape
        self.bytes = 0
        for array in layer:
            self.parts.append((self.bytes, np.empty((0, *array.shape), array.dtype)))
            self.bytes += -(-array.nbytes // 64) * 64
        self.bytes = -(-self.bytes // ALIGN) * ALIGN

    def views(self, buffer: Any) -> Layer:
        """The arrays of the layer in a buffer, each with an axis of one layer in front."""
        whole, arrays = np.frombuffer(buffer, np.uint8), []
        for offset, kind in self.parts:
            size = int(np.prod(kind.shape[1:])) * kind.itemsize
            arrays.append(whole[offset : offset + size].view(kind.dtype).reshape(1, *kind.shape[1:]))
        return Layer(*arrays)


class LayerFile:
    """A file of layers in the cache folder.

    Args:
        key: a hash of the weights and of how they are laid out, hexadecimal.
        layout: of each layer.
        count: how many layers.
    """

    def __init__(self, key: str, layout: Layout, count: int) -> None:
        self.path = cache_folder() / "layers" / f"{key[:32]}.bin"
        self.layout, self.count = layout, count
        self.modified = (1 << 29) + int(key[:8], 16) % (1 << 28) * 2  # seconds, even as some file systems have them

    @property
    def bytes(self) -> int:
        """Its size."""
        return self.count * self.layout.bytes

    def is_intact(self, status: os.stat_result) -> bool:
        """Whether nobody has written to it or cut it since it was made."""
        return status.st_size == self.bytes and int(status.st_mtime) == self.modified

    def write(self, layers: Callable[[], Iterable[Layer]], report: Report) -> None:
        """Make the file where it is missing or was changed.

        Raises:
            ValueError: if it cannot be written, or the disk has not the space.
        """
        with sentences(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock")):
                if self.path.exists() and self.is_intact(self.path.stat()):
                    return
                free = shutil.disk_usage(self.path.parent).free
                if free < self.bytes + SPARE:
                    raise ValueError(
                        f"offload must have {self.bytes + SPARE:,} free bytes for the layers in "
                        f"{str(self.path.parent)!r}; {free:,} are free. Free some, or set SPECVIZ_CACHE."
                    )
                part = self.path.with_suffix(".part")
                try:
                    self._write(part, layers(), report)
                    os.utime(part, (self.modified, self.modified))
                    part.replace(self.path)
                finally:
                    part.unlink(missing_ok=True)

    def _write(self, path: Path, layers: Iterable[Layer], report: Report) -> None:
        buffer = bytearray(self.layout.bytes)
        views = self.layout.views(buffer)
        with open(path, "wb", buffering=0) as file:
            for number, layer in enumerate(layers, 1):
                for view, array in zip(views, layer, strict=True):
                    view[0] = array
                rest = memoryview(buffer)
                while rest:
                    rest = rest[file.write(rest) :]
                report(number, self.count)
            os.fsync(file.fileno())


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """Turn errors of the system about a file of layers into sentences."""
    try:
        yield
    except OSError as error:
        raise ValueError(f"The layers on disk ({str(path)!r}) failed: {error.strerror or cause(error)}.") from error
