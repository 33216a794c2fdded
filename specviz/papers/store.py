"""What was measured, in two files: what no clock has part in, which any machine measures alike, and
what was timed."""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from os import cpu_count
from pathlib import Path
from typing import Any

from ..base.files import PAIR
from .claim import PAPERS, Columns


class Store:
    """Measurements by key, in the files of a folder.

    Args:
        folder: where they are; what is shipped by default.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or PAPERS
        self._files: dict[Path, dict[str, Any]] = {}

    def read(self, key: str) -> Columns | None:
        """The sums of a measurement; None before it was made."""
        for timed in (False, True):
            if stored := self._all(timed).get(key):
                rows = stored["rows"].items()
                return {
                    text: dict(zip(stored["names"], row, strict=True)) if row else {}
                    for text, row in rows
                }
        return None

    def current(self, key: str) -> bool:
        """Whether it was made with the weights that are shipped now."""
        return any(
            self._all(timed).get(key, {}).get("weights") == weights() for timed in (False, True)
        )

    def write(self, key: str, columns: Columns, pair: str, timed: bool) -> None:
        """Store a measurement."""
        names = list(next(filter(None, columns.values()), {}))
        rows = {
            text: [sums[name] for name in names] if sums else [] for text, sums in columns.items()
        }
        about = {"pair": pair, "machine": f"a machine of {cpu_count()} cores", "weights": weights()}
        table = self._all(timed)
        table[key] = {**about, "names": names, "rows": rows}
        self.folder.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(table[key], allow_nan=False)}" for key in sorted(table)
        )
        part = self._file(timed).with_suffix(
            ".part"
        )  # whoever stops here leaves the old file whole
        part.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
        part.replace(self._file(timed))

    def _file(self, timed: bool) -> Path:
        return self.folder / ("timed.json" if timed else "counted.json")

    def _all(self, timed: bool) -> dict[str, Any]:
        file = self._file(timed)
        if file not in self._files:
            try:
                self._files[file] = json.loads(file.read_text(encoding="utf-8"))
            except (FileNotFoundError, ValueError):
                self._files[file] = {}
        return self._files[file]


@lru_cache
def weights() -> str:
    """A short mark of the embedded pair's weights: their files' names, sizes and first bytes."""
    mark = sha256()
    for file in sorted(PAIR.rglob("*.safetensors")):
        with file.open("rb") as opened:
            mark.update(
                f"{file.relative_to(PAIR)} {file.stat().st_size}".encode() + opened.read(1 << 20)
            )
    return mark.hexdigest()[:12]
