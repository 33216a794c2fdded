"""Show a measurement in a command: a progress bar, tables, and Ctrl-C that keeps the results so far."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from tqdm import tqdm

from ..files import printable
from ..progress import Progress, Result

EVERY = 30.0  # seconds between two lines of progress where there is no terminal


def watch(updates: Iterable[Progress[Result]], unit: str) -> Iterator[Progress[Result]]:
    """Pass updates on, with a progress bar on standard error.

    Args:
        updates: the measurement.
        unit: its pieces in the plural, "runs" say.
    """
    with tqdm(unit=f" {unit}", leave=False, mininterval=0.1 if sys.stderr.isatty() else EVERY) as bar:
        for update in updates:
            bar.total = update.total
            bar.set_description(update.stage, refresh=False)
            bar.update(update.done - bar.n)
            yield update


def until_stopped(updates: Iterable[Progress[Result | None]], unit: str) -> tuple[Result, bool]:
    """The last result of a measurement, and whether Ctrl-C ended it early.

    Args:
        updates, unit: as for `watch`.

    Raises:
        KeyboardInterrupt: if it was ended before there was a result.
        ValueError: if there is none.
    """
    last: deque[Progress[Result | None]] = deque(maxlen=1)
    stopped = False
    try:
        for update in watch(updates, unit):
            if update.result:
                last.append(update)
    except KeyboardInterrupt:
        if not last:
            raise
        stopped = True
        print(f"\nstopped: results of {last[0].done} of {last[0].total} {unit}", file=sys.stderr)
    if not last or not last[0].result:
        raise ValueError("the measurement ended without a result. Give it more to measure.")
    return last[0].result, stopped


def print_table(rows: Sequence[dict[str, Any]], digits: int = 2) -> None:
    """Print rows under their names, columns aligned; None is left empty, text is aligned left.

    Args:
        rows: column -> value, the same columns in each.
        digits: of numbers that are not whole.
    """

    def text(value: Any) -> str:
        return "" if value is None else f"{value:.{digits}f}" if isinstance(value, float) else printable(str(value))

    columns = []
    for name in rows[0] if rows else ():
        cells = [name, *(text(row[name]) for row in rows)]
        width, words = max(map(len, cells)), any(isinstance(row[name], str) for row in rows)
        columns.append([cell.ljust(width) if words else cell.rjust(width) for cell in cells])
    for line in zip(*columns, strict=True):
        print("  ".join(line).rstrip())
