"""What was measured, in two files: what no clock has part in, which any machine measures alike, and
what was timed."""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import file_digest, sha256
from os import cpu_count
from pathlib import Path

from ..base.codec import JsonObject
from ..base.files import PAIR, write_text
from .claim import PAPERS
from .number import is_timed
from .verdict import Columns


class Store:
    """Measurements by their calls, in the files of a folder.

    Args:
        folder: where they are; what is shipped by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or PAPERS
        self.measured: dict[str, JsonObject] = {}
        for file in self.folder.glob("*.json"):
            self.measured |= json.loads(file.read_text(encoding="utf-8"))

    def read(self, call: str, current: bool = False) -> Columns:
        """The sums of a measurement; {} before it was made, with `current` by other weights too."""
        stored = self.measured.get(call)
        if stored is None or (current and stored["weights"] != weights()):
            return {}
        columns: Columns = {}
        for text, row in stored["rows"].items():
            columns[text] = dict(zip(stored["names"], row, strict=True)) if row else {}
        return columns

    def write(self, call: str, columns: Columns, pair: str) -> None:
        """Store a measurement."""
        # The names are written once, and of each text a row, which keeps the file small.
        names = list(next(filter(None, columns.values()), {}))
        rows = {}
        for text, sums in columns.items():
            rows[text] = [sums[name] for name in names] if sums else []
        self.measured[call] = {
            "pair": pair,
            "machine": f"a machine of {cpu_count()} cores",
            "weights": weights(),
            "names": names,
            "rows": rows,
        }
        timed = is_timed(call)
        lines = []
        for other, stored in sorted(self.measured.items()):
            if is_timed(other) == timed:
                lines.append(f"{json.dumps(other)}: {json.dumps(stored, allow_nan=False)}")
        text = ",\n".join(lines)
        self.folder.mkdir(parents=True, exist_ok=True)
        write_text(self.folder / ("timed.json" if timed else "counted.json"), f"{{\n{text}\n}}\n")


@lru_cache
def weights(folder: Path = PAIR) -> str:
    """A short mark of the weights in a folder, the embedded pair's by default: the names of their
    files, and all that is in them."""
    mark = sha256()
    for file in sorted(folder.rglob("*.safetensors")):
        mark.update(f"{file.relative_to(folder)}\n".encode())
        with file.open("rb") as opened:
            mark.update(file_digest(opened, "sha256").digest())
    return mark.hexdigest()[:12]
