"""Write what the page shows without a model: `python -m app.tabs.record`, on an idle machine.

For Explore every preset at three temperatures with both pairs, for Compare a race, all with weights
in memory and on disk and timed against plain decoding; for each lesson the runs it asks for, with
the first seed whose runs show what the lesson is about; for Measure the costs of this machine, and
what chains have accepted.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import islice
from os import cpu_count
from pathlib import Path

import specviz
from specviz.base import codec
from specviz.base.files import CHAINS, CURVES, TRACES
from specviz.measure.this_machine import measure_machine, prompts
from specviz.measure.timing import measure_speedup
from specviz.models.base import Pair

from ..service.loading import Loading
from ..service.offers import load_named
from ..service.pair_ref import SMOLLM2, WEIGHTS, PairRef
from .compare import example
from .explore import recordings
from .lessons import LESSONS
from .lessons.lesson import Lesson, Recording
from .measure import TEMPERATURES
from .parts.presets import PRESETS
from .parts.recorded import Chains, Recorded

SEEDS = range(1, 101)
FEWEST = 6  # steps of a lesson's run
ROUNDS = 5  # of timing against plain decoding
SIZES = {"memory": (2, 4, 8, 16, 32), "disk": (4, 8, 16, 32, 64)}  # of the trees of Measure
QUESTIONS = {"memory": 6, "disk": 3}  # on which they are timed
CHAINED = 8  # questions that a chain answers at each temperature


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    help = "only those whose names begin with it, such as explore/smollm2-chain"
    parser.add_argument("names", nargs="*", default=[""], help=help)
    args = parser.parse_args()
    for name, write in recorded().items():
        if name.startswith(tuple(args.names)):
            write()


def recorded() -> dict[str, Callable[[], None]]:
    """What writes each recording, by name."""
    work: dict[str, Callable[[], None]] = {}
    timed = [(one.path, one.ref, one.config) for one in recordings.RECORDINGS]
    timed += [(example.path(name), example.REF, run) for name, run in example.CONFIGS.items()]
    for path, ref, config in timed:
        name = path.relative_to(TRACES).with_suffix("").as_posix()
        work[name] = partial(write_timed, path, ref, config)
    for name, lesson in LESSONS.items():
        work[f"lessons/{name}"] = partial(write_lesson, lesson)
    return {**work, "curves": write_curves, "chains": write_chains}


@cache
def pair_of(ref: PairRef) -> Pair:
    """A pair, loaded once."""
    return load_named(ref, Loading(ref))


def write_timed(path: Path, ref: PairRef, config: specviz.RunConfig) -> None:
    """The faster of two runs, of which the first pays for a cold start, with its speedup over plain
    decoding in alternating rounds."""
    pair = pair_of(ref)
    runs = [specviz.run(pair, config) for _ in range(2)]
    trace = min(runs, key=lambda run: run.counts.elapsed)
    speedup = None
    if config.builder.name != "plain":
        for update in measure_speedup(pair, config, trace.counts, ROUNDS):
            speedup = update or speedup
    write(path, replace(trace, speedup=speedup))


def write_lesson(lesson: Lesson) -> None:
    """The runs of a lesson."""
    found = record(pair_of(PairRef(lesson.target)), lesson)
    for recording, trace in zip(lesson.recordings, found, strict=True):
        write(lesson.path(recording), trace)


def record(pair: Pair, lesson: Lesson) -> list[specviz.Trace]:
    """The runs of a lesson, with the first seed that suits it."""
    # A lesson is about something that most runs show and some do not: the first seed that does is
    # taken, and never one that looks best.
    for seed in SEEDS:
        traces = [decode(pair, recording, seed) for recording in lesson.recordings]
        is_long = all(len(trace.steps) >= FEWEST for trace in traces)
        if is_long and lesson.facts(*traces) is not None:
            return traces
    raise SystemExit(f"No seed up to {SEEDS[-1]} shows the point of the lesson “{lesson.name}”.")


def decode(pair: Pair, recording: Recording, seed: int) -> specviz.Trace:
    """As many steps of a lesson's run as it shows."""
    config = replace(recording.config, seed=seed)
    if recording.autoregressive:
        config = config.autoregressive()
    return specviz.run(pair, config, islice(specviz.speculate(pair, config), recording.steps))


def write_curves() -> None:
    """The costs of this machine and what trees gain on it, with weights in memory and on disk."""
    costs = {}
    points = {}
    for weights in WEIGHTS:
        pair = pair_of(PairRef(SMOLLM2, "", weights))
        for update in measure_machine(pair, sizes=SIZES[weights], rounds=QUESTIONS[weights]):
            print(f"{weights}: {update.done} of {update.total} runs", flush=True)
            result = update.result or None
        assert result
        costs[weights] = result.cost
        points[weights] = result.points
    date = datetime.now(UTC).date().isoformat()
    text = codec.dumps(Recorded(costs, points, f"{cpu_count()} cores", date))
    CURVES.write_text(text + "\n", encoding="utf-8")


def write_chains() -> None:
    """What a chain of the pair that the page opens with has accepted in each step; no time is in
    it."""
    pair = pair_of(PairRef(SMOLLM2))
    chain = PRESETS["Chain"]
    accepted: dict[str, list[int]] = {f"{value:g}": [] for value in TEMPERATURES}
    for temperature in TEMPERATURES:
        for seed, question in enumerate(prompts(CHAINED, chat=True)):
            config = specviz.RunConfig(question, chain, temperature=temperature, seed=seed)
            steps = specviz.run(pair, config).steps
            # At the end of a text the chain is cut short.
            whole = [step for step in steps if step.drafted == chain.depth]
            accepted[f"{temperature:g}"] += [len(step.path) for step in whole]
    CHAINS.write_text(codec.dumps(Chains(chain.depth, accepted)) + "\n", encoding="utf-8")


def write(path: Path, trace: specviz.Trace) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(trace.to_json() + "\n", encoding="utf-8")
    print(f"{path.name}: {trace.text!r} {trace.speedup}", flush=True)


if __name__ == "__main__":
    main()
