"""The file of a model's layers: one behind the other in the order of reading, each aligned for
direct reads.

Its name is a hash of the weights and of how they are laid out. It is written once, under another
name until it is complete. Its time of modification is a number made of the same hash, which
anything that writes to it moves; its time of access is that of its last opening.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from time import time

import numpy as np
from filelock import FileLock

from ...base.files import cache_folder, file_errors
from ...passes.layers import Layer

ALIGN = 4096  # bytes: what direct reads want of places in a file and in memory
SPARE = 1 << 28  # bytes that are left free on the disk
UNUSED = 30 * 24 * 3600  # seconds after its last opening when a file is deleted


def layout(layer: Layer) -> np.dtype:
    """How the arrays of a layer lie in its part of the file: a record that has a field for each."""
    # Each array begins at a multiple of 64 bytes, which vector instructions read fastest, and each
    # layer at a multiple of a page.
    ends = np.cumsum([-(-array.nbytes // 64) * 64 for array in layer]).tolist()
    formats = [(array.dtype, array.shape) for array in layer]
    size = -(-ends[-1] // ALIGN) * ALIGN
    return np.dtype(
        {"names": Layer._fields, "formats": formats, "offsets": [0, *ends[:-1]], "itemsize": size}
    )


class LayerFile:
    """A file of layers in the cache folder.

    Args:
        key: a hash of the weights and of how they are laid out, hexadecimal.
        layer: the `layout` of each layer.
        count: how many layers.
    """

    def __init__(self, key: str, layer: np.dtype, count: int) -> None:
        self.path = cache_folder() / "layers" / f"{key[:32]}.bin"
        self.layer = layer
        self.count = count
        self.bytes = count * layer.itemsize
        # Seconds, an even number as some file systems have them.
        self.modified = (1 << 29) + int(key[:8], 16) % (1 << 28) * 2

    def is_intact(self, status: os.stat_result) -> bool:
        """Whether nobody has written to it or cut it since it was made."""
        return status.st_size == self.bytes and int(status.st_mtime) == self.modified

    def write(self, layers: Callable[[], Iterable[Layer]]) -> None:
        """Make the file where it is missing or was changed, and delete those that nobody opened for
        30 days.

        Raises:
            ValueError: if it cannot be written, or the disk has not the space.
        """
        folder = self.path.parent
        with disk_errors(self.path):
            folder.mkdir(parents=True, exist_ok=True)
            with FileLock(self.path.with_suffix(".lock")):
                if not (self.path.exists() and self.is_intact(self.path.stat())):
                    self._write(layers)
                os.utime(self.path, (time(), self.modified))
            for file in folder.glob("*.bin"):
                if time() - file.stat().st_atime > UNUSED:
                    file.unlink(missing_ok=True)

    def _write(self, layers: Callable[[], Iterable[Layer]]) -> None:
        free = shutil.disk_usage(self.path.parent).free
        # Under another name until it is complete: a run that is stopped leaves nothing that looks
        # whole.
        part = self.path.with_suffix(".part")
        if free < self.bytes + SPARE:
            raise ValueError(
                f"offload must have {self.bytes + SPARE:,} free bytes for the layers in "
                f"{str(self.path.parent)!r}; "
                f"{free:,} are free. Free some, or set SPECVIZ_CACHE."
            )
        record = np.zeros(1, self.layer)
        try:
            with open(part, "wb") as file:
                for layer in layers():
                    for name, array in zip(Layer._fields, layer, strict=True):
                        record[name] = array
                    file.write(record.view(np.uint8).data)
                file.flush()
                os.fsync(file.fileno())
            part.replace(self.path)
        finally:
            part.unlink(missing_ok=True)


def disk_errors(path: Path) -> AbstractContextManager[None]:
    """Make errors of the system about a file of layers a `ValueError` of one sentence."""
    return file_errors(f"The layers on disk ({path.name}) failed")
