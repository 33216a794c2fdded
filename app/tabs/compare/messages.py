"""A comparison as messages to the page: runs decoded one after the other, remarks on their texts,
and a table.

A message opens a comparison with its "columns", and brings "updates" of them: each with "at" (which
column), "state", "steps" and "clock", as far as they are new; "remarks" and "table" are whole. A
"clock" without steps takes the place of the times so far: at the end each run has the times of its
rate (`rates.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from specviz.base import codec
from specviz.base.codec import JsonObject
from specviz.measure.timing import ROUNDS
from specviz.record.metrics import Counts
from specviz.record.step import Step
from specviz.record.trace import Trace
from specviz.view.payload import described, measured, message
from specviz.view.step_payload import step_payload

from ...service.decoding import batches, begin, timing
from ...service.failures import explain
from ...service.queued_run import Turn
from ...service.run_store import new_name
from .entry import Entry
from .rates import Run, headline, race_clock, rates, runs_of
from .texts import remarks

WARM_UP = 2  # steps before each run that are not counted, so that none pays for a cold start


def compare_runs(turn: Turn, entries: Sequence[Entry], settings: str) -> Iterator[str | None]:
    """Decode every entry, one at a time, and then time each against plain decoding; the page keeps
    the previous results until the first step arrives.

    Args:
        turn: what it computes with.
        entries: what the columns run.
        settings: what the controls hold as text, by which the page knows when they differ.

    Raises:
        ValueError: with the letter of the column that failed.
    """
    name = new_name("comparison")
    runs = runs_of(entries)
    more: JsonObject = {}  # what the message with the first step also brings
    for at, run in enumerate(runs):
        try:
            blank, steps = begin(turn, run.entry.config, WARM_UP)
            if at == 0:
                more = about(runs, blank, settings=settings)
            dtype = blank.pair.get("dtype")
            for unsent in batches(steps):
                if not unsent:
                    yield None
                    continue
                note = f"Decoding run {at + 1} of {len(runs)}: {run.title}."
                updates = [added(at, run, unsent)]
                yield message(name, updates=updates, state="running", note=note, **more)
                more = {}
        except Exception as error:
            reason = explain(error, "The run failed.")
            raise ValueError(f"{run.entry.letter}: {reason}") from None
        yield message(name, updates=[{"at": at, "state": "done"}], state="running")
    # All texts are there before anything is timed: a visitor reads them meanwhile, and a comparison
    # that is stopped here is whole.
    yield message(name, state="running", remarks=remarks(runs, turn, dtype))
    for run in runs:
        if run.entry.autoregressive:
            continue
        # What the rounds give is sent when all are over, as a number that is read does not change.
        note = f"Timing {run.title} against plain decoding"
        yield message(name, state="timing", note=f"{note}, {ROUNDS} rounds.")
        for speedup in timing(turn, run.entry.config, run.counts):
            if speedup is None:
                yield None
                continue
            run.speedup = speedup
            yield message(name, state="timing", note=f"{note}: {speedup.rounds} of {ROUNDS}.")
    yield message(name, state="done", **results(runs))


def about(runs: Sequence[Run], trace: Trace, **more: object) -> JsonObject:
    """What is compared, sent once; `trace` is of one of the runs, which share prompt and pair."""
    kinds = [run.entry.kind for run in runs]
    columns = []
    for at, run in enumerate(runs):
        entry = run.entry
        columns.append(
            {
                "letter": entry.letter,
                # of two of a kind the last one has its colour
                "kind": "other" if entry.kind in kinds[at + 1 :] else entry.kind,
                "title": run.title,
                "details": entry.details,
                "lossy": entry.lossy,
            }
        )
    pair = f"{described(trace.pair)}, temperature {trace.config.temperature:g}"
    return {"columns": columns, "prompt": trace.prompt_text, "pair": pair, **more}


def added(at: int, run: Run, steps: Sequence[Step]) -> JsonObject:
    """New steps of a column, as an update."""
    clock = []
    for step in steps:
        run.counts += Counts.of([step])
        run.steps.append((step.seconds.total, len(step.emitted)))
        clock.append((run.counts.elapsed, run.counts.tokens))
        run.written += step.emitted
    payloads = [step_payload(step, run.entry.config.verifier) for step in steps]
    return {"at": at, "state": "running", "steps": payloads, "clock": codec.json_data(clock)}


def results(runs: Sequence[Run]) -> JsonObject:
    """What follows from the times of the runs: of each seconds and tokens by the end of each step,
    the table, and how many times as fast as plain decoding it is, also in a sentence."""
    updates = []
    columns = []
    for at, (run, rate) in enumerate(zip(runs, rates(runs), strict=True)):
        clock = race_clock(run.steps, run.counts, rate)
        updates.append({"at": at, "clock": codec.json_data(clock)})
        columns.append(measured(run.counts.at_rate(rate), run.speedup))
    rows = []
    for cells in zip(*columns, strict=True):
        rows.append({"name": cells[0][0], "cells": [cell[1:] for cell in cells]})
    return {
        "note": "",  # what it did before
        "updates": updates,
        "table": rows,
        "factors": [run.label for run in runs],
        "headline": headline(runs),
    }


def of_traces(
    entries: Sequence[Entry], traces: Sequence[Trace], name: str = "recorded race", **more: object
) -> str:
    """Recorded runs on the same prompt as one message.

    `more` has "badge", what the page calls it.
    """
    runs = runs_of(entries)
    updates = []
    for at, (run, trace) in enumerate(zip(runs, traces, strict=True)):
        updates.append(added(at, run, trace.steps) | {"state": "done"})
        run.speedup = trace.speedup  # what a run was timed at travels in its trace
    data = results(runs) | about(runs, traces[0], **more)
    data["updates"] = [new | own for new, own in zip(updates, data["updates"], strict=True)]
    return message(name, state="done", remarks=remarks(runs), **data)
