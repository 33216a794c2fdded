"""The file of results of `bench`: a line for each cell, appended as it was measured."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from ..base import codec
from ..base.files import file_errors, parse_json

KINDS = {"result": dict, "impossible": str, "failed": str}


def key_of(cell: dict[str, Any]) -> str:
    """What tells a cell from all others."""
    return json.dumps(cell, sort_keys=True)


def read_results(path: str | Path | None) -> dict[str, dict[str, Any]]:
    """The latest outcome of each cell in a file, by `key_of` the cell.

    Args:
        path: of the file, None for nothing; it need not exist.

    Raises:
        ValueError: if it holds anything else.
    """
    outcomes = {}
    rows = Path(path).read_bytes().splitlines() if path and Path(path).exists() else []
    for number, row in enumerate(rows, 1):
        if (outcome := _outcome(row)) is None:
            raise ValueError(
                f"results {str(path)!r} are damaged in line {number}, which is not a result. "
                "Remove that line, or use another file."
            )
        outcomes[key_of(outcome["cell"])] = outcome
    return outcomes


def append_result(path: str | Path, outcome: dict[str, Any]) -> None:
    """Append an outcome to a file as a line; a failure leaves the file as it was."""
    row = json.dumps(codec.json_data(outcome, exact=True), ensure_ascii=False)
    with file_errors(f"{str(path)!r} cannot be written"), open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        cut = file.read(1) not in (b"", b"\n")  # the last line was not finished
        try:
            file.write(f"{chr(10) * cut}{row}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise


def _outcome(row: bytes) -> dict[str, Any] | None:
    try:
        outcome = parse_json(row)
        json.dumps(outcome, allow_nan=False)  # 1e999 reads as infinity
    except (ValueError, RecursionError):
        return None
    if not isinstance(outcome, dict) or not isinstance(outcome.get("cell"), dict):
        return None
    known = any(isinstance(outcome.get(name), kind) for name, kind in KINDS.items())
    return outcome if known else None
