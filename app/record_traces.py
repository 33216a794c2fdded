"""Write every recorded run that the page shows: `python -m app.record_traces`.

For the first screen a run with the pair's defaults, and plain decoding of the same prompt beside it for the measured
speedup; for Compare a race of three drafters; for each lesson the runs it
asks for, with the first seed whose runs show what the lesson is about.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import specviz
from specviz import codec
from specviz.decode import collect
from specviz.files import TRACES

from .machine.models import default_pair
from .tabs import lessons
from .tabs.compare import runs
from .tabs.lessons.lesson import Lesson, Recording

SEEDS = range(1, 101)
PLAIN_TOKENS = 24  # of plain decoding beside the first screen
FEWEST = 6  # steps of a lesson's run


def main() -> None:
    parser = argparse.ArgumentParser(description="Write all recorded runs of the page.")
    parser.add_argument("--only", choices=("story", "race", "lessons", *lessons.LESSONS), help="write only these")
    parser.add_argument("--prompt", default="Once upon a time there was a little", help="of the first screen")
    parser.add_argument("--temperature", type=float, default=0.6)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--max-new-tokens", type=int, default=96)
    args = vars(parser.parse_args())
    only, config, pair = args.pop("only"), specviz.RunConfig(**args), default_pair()
    short = replace(config, max_new_tokens=PLAIN_TOKENS)
    specviz.run(pair, short), specviz.autoregress(pair, short)  # the first passes of a process are slow
    if only in (None, "story"):
        write(TRACES / "story.json", specviz.run(pair, config))
        write(TRACES / "plain.json", specviz.autoregress(pair, short))
    if only in (None, "race"):
        for drafter, trace in runs.record_race(pair):
            write(runs.race_path(drafter), trace)
    for name, lesson in lessons.LESSONS.items():
        if only in (None, "lessons", name):
            recorded = record(pair, lesson)
            for recording, trace in zip(lesson.recordings, recorded, strict=False):
                write(lesson.path(recording), trace)
            if lesson.measure:
                lesson.measured.write_text(codec.dumps(recorded[-1]) + "\n", encoding="utf-8")


def record(pair: Any, lesson: Lesson) -> list[Any]:
    """The runs of a lesson and what else it measures, with the first seed that suits it."""
    measured = [codec.plain(lesson.measure(pair, SEEDS[0]))] if lesson.measure else []
    for seed in SEEDS:
        traces = [decode(pair, recording, seed) for recording in lesson.recordings]
        if all(len(trace.steps) >= FEWEST for trace in traces) and lesson.facts(*traces, *measured) is not None:
            return [*traces, *measured]
    raise SystemExit(f"No seed up to {SEEDS[-1]} shows the point of the lesson “{lesson.name}”.")


def decode(pair: Any, recording: Recording, seed: int) -> specviz.Trace:
    config = replace(recording.config, seed=seed)
    config = config.plainly() if recording.autoregressive else config
    return collect(pair, config, islice(specviz.speculate(pair, config), recording.steps))


def write(path: Path, trace: specviz.Trace) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace.to_json() + "\n", encoding="utf-8")
    print(f"{path.name}: {len(trace.tokens)} tokens, {len(trace.steps)} steps: {trace.text!r}")


if __name__ == "__main__":
    main()
