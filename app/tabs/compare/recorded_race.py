"""The race that the tab opens with: three drafters of one target on one prompt (`python -m app.record_traces`).

The controls of the tab open with the same configurations, so that the first run repeats what is shown.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from os import cpu_count
from pathlib import Path
from typing import Any

from specviz import BUILDERS, DRAFTERS, VERIFIERS, RunConfig, Trace, run
from specviz.paths import TRACES

PROMPT = 'def read_lines(path):\n    """Return the lines of a file."""\n'
RUNNERS = ("model", "medusa", "eagle")  # the drafters of the columns A, B and C
CONFIG = RunConfig(PROMPT, BUILDERS["sequoia"](size=12), VERIFIERS["exact-match"](), temperature=0, max_new_tokens=48)


def path(drafter: str) -> Path:
    """The file of a run."""
    return TRACES / "race" / f"{drafter}.json"


def record(pair: Any) -> Iterator[tuple[str, Trace]]:
    """Every run, after one warm-up run."""
    about = {"recorded": date.today().isoformat(), "machine": f"a machine of {cpu_count()} cores"}
    for drafter in RUNNERS:
        config = replace(CONFIG, drafter=DRAFTERS[drafter]())
        run(pair, config)
        trace = run(pair, config)
        yield drafter, replace(trace, pair=trace.pair | about)


def read() -> list[Trace]:
    """The recorded runs."""
    return [Trace.from_json(path(drafter).read_text("utf-8")) for drafter in RUNNERS]


def when(traces: list[Trace]) -> str:
    """When and where they were recorded, in words."""
    about = traces[0].pair
    day = date.fromisoformat(about["recorded"])
    return f"recorded on {day.day} {day:%B %Y} on {about['machine']}"
