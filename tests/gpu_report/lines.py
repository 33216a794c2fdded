"""The lines of a report: a JSON object for each check, appended as soon as it is known."""

import json
import logging
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from specviz.base import codec
from specviz.measure.results import append_result


@dataclass(frozen=True)
class Setting:
    """Where a report is made.

    Args:
        device: as for `load_pair`.
        tiny: whether everything is small enough for a test on a CPU.
    """

    device: str = "cuda"
    tiny: bool = False

    @property
    def on_cpu(self) -> bool:
        return self.device == "cpu"


@dataclass(frozen=True)
class Lines:
    """Where the checks of one part write what they found.

    Args:
        file: of all parts.
        part: the name of this one.
    """

    file: Path
    part: str

    def add(self, check: str, **facts: object) -> None:
        """Append a line; "ok" is true, false, or missing where nothing is judged, and "error" says
        that a check could not be made."""
        line = json.loads(codec.dumps({"part": self.part, "check": check} | facts, all_digits=True))
        append_result(self.file, line)

    def check(self, name: str, find: Callable[..., dict], *arguments: object) -> None:
        """Append what a check returns, or its error."""
        began = perf_counter()
        try:
            facts = find(*arguments)
            codec.dumps(facts)  # a number that is none is an error of the check
        except Exception as error:  # the next check may still say something
            trace = "".join(traceback.format_exception(error)[-3:])
            facts = {"error": f"{type(error).__name__}: {error}"[:500], "trace": trace[-2000:]}
        self.add(name, **facts, took_s=round(perf_counter() - began, 2))

    @contextmanager
    def warnings(self) -> Iterator[None]:
        """Meanwhile append what specviz warns of."""
        lines = self

        class Handler(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                lines.add("warning", text=record.getMessage()[:500])

        handler = Handler(logging.WARNING)
        logging.getLogger("specviz").addHandler(handler)
        try:
            yield
        finally:
            logging.getLogger("specviz").removeHandler(handler)


def read(file: Path) -> list[dict]:
    """All lines of a report so far."""
    if not file.exists():
        return []
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def is_wrong(line: dict) -> bool:
    """Whether a line says that something is wrong or could not be found out."""
    return "error" in line or line.get("ok") is False
