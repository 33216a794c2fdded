"""The file of `bench`: one JSON object a line, each written whole before the next cell begins."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from .. import codec
from ..files import parse_json
from .grid import key_of

BEGINS = b'{"cell": {'  # how a line of results begins
KINDS = {"result": dict, "impossible": str, "failed": str}


class Results:
    """The outcomes in a file, or in memory.

    Args:
        path: of the file, None for memory; it need not exist. The cut-off beginning of an outcome at its end, as a
            power failure leaves one, is removed. Whoever writes holds the file (`files.file_lock`).

    Raises:
        ValueError: if it holds anything else; it is then left as it is.
    """

    def __init__(self, path: str | Path | None) -> None:
        self.path = Path(path) if path else None
        self.outcomes: dict[str, dict[str, Any]] = {}  # the latest of each cell
        rows = self.path.read_bytes().splitlines(keepends=True) if self.path and self.path.exists() else []
        for number, row in enumerate(rows, 1):
            if outcome := _outcome(row):
                self.outcomes[key_of(outcome["cell"])] = outcome
            elif path and number == len(rows) and _cut_off(row, first=number == 1):
                os.truncate(path, sum(map(len, rows[:-1])))
            else:
                raise ValueError(
                    f"results {str(path)!r} are damaged in line {number}, which is not a result. "
                    "Remove that line, or use another file."
                )

    def missing(self, cells: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        """The cells without an outcome; one that failed is tried again."""
        return [cell for cell in cells if "failed" in self.outcomes.get(key_of(cell), {"failed": ""})]

    def add(self, outcome: dict[str, Any]) -> None:
        """Append an outcome."""
        if self.path:
            with open(self.path, "ab") as file:
                file.write(json.dumps(codec.plain(outcome, exact=True), ensure_ascii=False).encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        self.outcomes[key_of(outcome["cell"])] = outcome

    def of(self, cells: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """The outcomes of cells, as far as there are any."""
        return (self.outcomes[key] for key in map(key_of, cells) if key in self.outcomes)


def _cut_off(row: bytes, first: bool) -> bool:
    """Whether a row is an outcome that was not written to its end, or the zeros that a power failure leaves."""
    begins = row.startswith(BEGINS) or (not first and BEGINS.startswith(row))
    return not row.endswith(b"\n") and (begins or not row.strip(b"\0"))


def _outcome(row: bytes) -> dict[str, Any] | None:
    try:
        outcome = parse_json(row)
        json.dumps(outcome, allow_nan=False)  # 1e999 reads as infinity
    except (ValueError, RecursionError):
        return None
    good = row.endswith(b"\n") and isinstance(outcome, dict) and isinstance(outcome.get("cell"), dict)
    return outcome if good and any(isinstance(outcome.get(name), kind) for name, kind in KINDS.items()) else None
