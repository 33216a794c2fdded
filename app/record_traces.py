"""Write every recorded run that the page shows: `python -m app.record_traces`.

For Explore every preset at three temperatures, for Compare a race, both with weights in memory and
on disk and timed against plain decoding; for each lesson the runs it asks for, with the first seed
whose runs show what the lesson is about. Times mean something on an idle machine only.
"""

from __future__ import annotations

import argparse
from collections import deque
from dataclasses import replace
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import specviz
from specviz.base import codec
from specviz.measure.timing import measure_speedup

from .parts.decoding import offload_info
from .service.offers import load_named
from .service.pairs import TALES, Loading, PairRef
from .tabs import lessons
from .tabs.compare import race
from .tabs.explore import recordings
from .tabs.lessons.lesson import Lesson, Recording

SEEDS = range(1, 101)
FEWEST = 6  # steps of a lesson's run
ROUNDS = 5  # of timing against plain decoding


def main() -> None:
    parser = argparse.ArgumentParser(description="Write all recorded runs of the page.")
    parser.add_argument(
        "--only", choices=("explore", "race", "lessons", *lessons.LESSONS), help="write only these"
    )
    only = parser.parse_args().only
    pair = cache(lambda ref: load_named(ref, Loading(ref)))
    if only in (None, "explore"):
        for one in recordings.RECORDINGS:
            write(one.path, timed_run(pair(one.ref), one.config))
    if only in (None, "race"):
        for name, config in race.CONFIGS.items():
            write(race.path(name), timed_run(pair(race.REF), config))
    for name, lesson in lessons.LESSONS.items():
        if only in (None, "lessons", name):
            write_lesson(pair(PairRef(TALES)), lesson)


def timed_run(pair: Any, config: specviz.RunConfig) -> specviz.Trace:
    """A run after one that warms up, with its speedup over plain decoding in alternating rounds."""
    specviz.run(pair, replace(config, max_new_tokens=8))
    trace = specviz.run(pair, config)
    speedup = None
    if config.builder.name != "plain":
        updates = measure_speedup(pair, config, trace.counts, ROUNDS)
        speedup = deque((one for one in updates if one is not None), maxlen=1).pop()
    return replace(trace, pair=trace.pair | offload_info(pair), speedup=speedup)


def write_lesson(pair: Any, lesson: Lesson) -> None:
    recorded = record(pair, lesson)
    for recording, trace in zip(lesson.recordings, recorded, strict=False):
        write(lesson.path(recording), trace)
    if lesson.measure:
        lesson.measured.write_text(codec.dumps(recorded[-1]) + "\n", encoding="utf-8")


def record(pair: Any, lesson: Lesson) -> list[Any]:
    """The runs of a lesson and what else it measures, with the first seed that suits it."""
    measured = [codec.json_data(lesson.measure(pair, SEEDS[0]))] if lesson.measure else []
    for seed in SEEDS:
        traces = [decode(pair, recording, seed) for recording in lesson.recordings]
        if (
            all(len(trace.steps) >= FEWEST for trace in traces)
            and lesson.facts(*traces, *measured) is not None
        ):
            return [*traces, *measured]
    raise SystemExit(f"No seed up to {SEEDS[-1]} shows the point of the lesson “{lesson.name}”.")


def decode(pair: Any, recording: Recording, seed: int) -> specviz.Trace:
    config = replace(recording.config, seed=seed)
    config = config.autoregressive() if recording.autoregressive else config
    return specviz.run(pair, config, islice(specviz.speculate(pair, config), recording.steps))


def write(path: Path, trace: specviz.Trace) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace.to_json() + "\n", encoding="utf-8")
    print(f"{path.name}: {len(trace.tokens)} tokens, {len(trace.steps)} steps: {trace.text!r}")


if __name__ == "__main__":
    main()
