"""Show a measurement in a command: a progress bar, intervals, and Ctrl-C that keeps the results so
far."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from tqdm import tqdm

from ..base.codec import JsonObject
from ..base.files import printable
from ..base.progress import Progress, Result, final_result
from ..measure.quiet import MAX_CORES

EVERY = 30.0  # seconds between two lines of progress where there is no terminal


def say(text: str) -> None:
    """Print a text that may come from a model or a file."""
    print(printable(text))


def warn(text: str) -> None:
    """Print what is no result."""
    print(printable(text), file=sys.stderr)


def until_stopped(updates: Iterable[Progress[Result | None]], unit: str) -> tuple[Result, bool]:
    """The last result of a measurement, shown with a progress bar, and whether Ctrl-C ended it
    early.

    Args:
        updates: the measurement.
        unit: its parts in the plural, "runs" say.

    Raises:
        KeyboardInterrupt: if it was ended before there was a result.
        ValueError: if there is none.
    """
    last = None
    stopped = False
    with tqdm(
        unit=f" {unit}", leave=False, mininterval=0.1 if sys.stderr.isatty() else EVERY
    ) as bar:
        try:
            for update in updates:
                bar.total = update.total
                bar.set_description(update.stage, refresh=False)
                # A measurement says how far it is, the bar wants to know how much came.
                bar.update(update.done - bar.n)
                # Progress without a result yet is no result of a stopped run.
                if update.result:
                    last = update
        except KeyboardInterrupt:
            if last is None:
                raise
            stopped = True
            warn(f"\nstopped: results of {last.done} of {bar.total} {unit}")
    return final_result([last] if last else []), stopped


def warn_if_busy(cores: float) -> None:
    """Say that other processes used the machine while it was measured, if they did."""
    if cores > MAX_CORES:
        print(
            f"The machine was busy: other processes used up to {cores:.1f} cores. Repeat "
            "this when it is idle."
        )


def timed_figures(run: JsonObject) -> list[str]:
    """Tokens per pass and speedup of a `TimedRun` as plain data, each with its half-width as far as
    it has one."""
    figures = []
    for name, margin in (("tokens_per_pass", "tokens_margin"), ("speedup", "speedup_margin")):
        behind = ""
        if run[margin] is not None:
            behind = f" ± {run[margin]:.2f}"
        figures.append(f"{run[name]:.2f}{behind}")
    return figures
