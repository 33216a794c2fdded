"""What was measured, in two files: what no clock has part in, which any machine measures alike, and what was timed."""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from os import cpu_count
from pathlib import Path
from typing import Any

from ..files import PAIR, PAPERS
from .claim import Columns, Data


class Store:
    """Measurements by key, in the files of a folder.

    Args:
        folder: where they are; what is shipped by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or PAPERS
        self._known: dict[str, dict[str, Any]] = {}

    def _file(self, data: Data) -> Path:
        return self.folder / ("timed.json" if data.how == "timed" else "counted.json")

    def _all(self, data: Data) -> dict[str, Any]:
        file = self._file(data)
        if file.name not in self._known:
            try:
                self._known[file.name] = json.loads(file.read_text(encoding="utf-8"))
            except (FileNotFoundError, ValueError):
                self._known[file.name] = {}
        return self._known[file.name]

    def read(self, data: Data) -> Columns | None:
        """The sums of a measurement; None before it was made."""
        kept = self._all(data).get(data.key)
        if kept is None:
            return None
        return {name: dict(zip(kept["names"], row, strict=True)) if row else {} for name, row in kept["rows"].items()}

    def made(self, data: Data) -> str:
        """With which pair and machine."""
        kept = self._all(data).get(data.key)
        return f"{kept['pair']}, {kept['machine']}" if kept else ""

    def current(self, data: Data) -> bool:
        """Whether it was made with the weights that are shipped now."""
        return self._all(data).get(data.key, {}).get("weights") == weights()

    def write(self, data: Data, columns: Columns, pair: str) -> None:
        """Keep a measurement."""
        names = list(next(filter(None, columns.values()), {}))
        rows = {text: [sums[name] for name in names] if sums else [] for text, sums in columns.items()}
        about = {"pair": pair, "machine": f"a machine of {cpu_count()} cores", "weights": weights()}
        every = self._all(data)
        every[data.key] = {**about, "names": names, "rows": rows}
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(every[key], allow_nan=False)}" for key in sorted(every))
        half = self._file(data).with_suffix(".part")  # who stops here leaves the old file whole
        half.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        half.replace(self._file(data))


@lru_cache
def weights() -> str:
    """A short mark of the embedded pair's weights: their files' names, sizes and first bytes."""
    mark = sha256()
    for file in sorted(PAIR.rglob("*.safetensors")):
        with file.open("rb") as opened:
            mark.update(f"{file.relative_to(PAIR)} {file.stat().st_size}".encode() + opened.read(1 << 20))
    return mark.hexdigest()[:12]
