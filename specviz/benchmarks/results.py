"""The file of `bench`: one JSON object a line, each written whole before the next cell begins."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .. import codec
from ..files import parse_json
from .grid import key_of

BEGINS = b'{"cell": {'  # how a line of results begins
KINDS = {"result": dict, "impossible": str, "failed": str}


def read_results(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """The latest outcome of each cell in a file, by `key_of` the cell.

    Args:
        path: of the file, None for nothing; it need not exist. The cut-off beginning of an outcome at its end, as a
            power failure leaves one, is removed. Whoever writes holds the file (`files.file_lock`).

    Raises:
        ValueError: if it holds anything else; it is then left as it is.
    """
    outcomes = {}
    rows = Path(path).read_bytes().splitlines(keepends=True) if path and Path(path).exists() else []
    for number, row in enumerate(rows, 1):
        if outcome := _outcome(row):
            outcomes[key_of(outcome["cell"])] = outcome
        elif path and number == len(rows) and _cut_off(row, first=number == 1):
            os.truncate(path, sum(map(len, rows[:-1])))
        else:
            raise ValueError(
                f"results {str(path)!r} are damaged in line {number}, which is not a result. "
                "Remove that line, or use another file."
            )
    return outcomes


def append_result(path: str | Path, outcome: dict[str, Any]) -> None:
    """Append an outcome to a file."""
    with open(path, "ab") as file:
        file.write(json.dumps(codec.plain(outcome, exact=True), ensure_ascii=False).encode() + b"\n")
        file.flush()
        os.fsync(file.fileno())


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
