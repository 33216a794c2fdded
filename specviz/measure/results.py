"""The file of results of `bench`: a line for each cell, appended as it was measured."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..base import codec
from ..base.codec import JsonObject
from ..base.files import file_errors, parse_json

KINDS = {"cell": dict, "result": dict, "impossible": str, "failed": str}


def read_results(path: str | Path | None) -> dict[str, JsonObject]:
    """The latest outcome of each cell in a file, by the `key` of the cell.

    Args:
        path: of the file, None for nothing; it need not exist.

    Raises:
        ValueError: if it holds anything else.
    """
    outcomes: dict[str, JsonObject] = {}
    if not (path and Path(path).exists()):
        return outcomes
    rows = Path(path).read_bytes().splitlines()
    for number, row in enumerate(rows, 1):
        try:
            outcome = parse_json(row)
            kinds = set()
            for name, kind in KINDS.items():
                if isinstance(outcome.get(name), kind):
                    kinds.add(name)
            json.dumps(outcome, allow_nan=False)  # 1e999 reads as infinity
        except (ValueError, AttributeError, RecursionError):
            kinds = set()
        if "cell" not in kinds or len(kinds) < 2:
            raise ValueError(
                f"results {str(path)!r} are damaged in line {number}, which is not a result. "
                "Remove that line, or use another file."
            )
        # Later lines win: a cell that failed and was measured again has its last outcome.
        outcomes[json.dumps(outcome["cell"], sort_keys=True)] = outcome
    return outcomes


def append_result(path: str | Path, outcome: JsonObject) -> None:
    """Append an outcome to a file as a line; a failure leaves the file as it was."""
    row = json.dumps(codec.json_data(outcome, all_digits=True), ensure_ascii=False)
    with file_errors(f"{str(path)!r} cannot be written"), open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        file.seek(max(0, end - 1))
        # A run that was killed may have left half a line: the new one begins behind a line end.
        cut = file.read(1) not in (b"", b"\n")  # the last line was not finished
        try:
            file.write(f"{chr(10) * cut}{row}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        except OSError:
            file.truncate(end)
            raise
