"""A comparison as messages to the page: runs decoded one after the other, remarks on their texts,
and a table.

A message opens a comparison with its "columns", and brings "updates" of them: each with "at" (which
column), "state", "steps" and "clock", as far as they are new; "pairs" and "table" are whole. A
"clock" without steps takes the place of the times so far: at the end each run has the times of its
rate (`rates.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

from specviz.base import codec
from specviz.base.codec import JsonObject
from specviz.measure.timing import ROUNDS
from specviz.models.base import Pair
from specviz.proof.same_text import margin_at
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
from .rates import Run, basis, factors, headline, race_clock, rates, runs_of
from .texts import compare_texts, remarks

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
    dtype = None
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
                update = added(at, run, unsent)
                yield message(name, updates=[update], state="running", note=note, **more)
                more = {}
        except Exception as error:
            reason = explain(error, "The run failed.")
            raise ValueError(f"{run.entry.letter}: {reason}") from None
        yield message(name, updates=[{"at": at, "state": "done"}], state="running")
    # All texts are there before anything is timed: a visitor reads them meanwhile, and a comparison
    # that is stopped here is whole.
    yield message(name, state="running", pairs=remarks(list(pairs_of(runs, turn, dtype))))
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


def margin_after(pair: Pair, config: Any, tokens: Sequence[int]) -> Iterator[float]:
    """How far apart the two best candidates were after these new tokens; for `Turn.compute`."""
    yield margin_at(pair, config, tokens)


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
                "plain": entry.autoregressive,
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


def pairs_of(
    runs: Sequence[Run], turn: Turn | None = None, dtype: str | None = None
) -> Iterator[JsonObject]:
    """What is found of every two texts; with a `turn` also why those part that should be equal,
    which costs a pass: where the two best candidates are as good as tied, rounding decides."""
    for one, other in combinations(runs, 2):
        texts = one.entry, one.written, other.entry, other.written
        pair = compare_texts(*texts)
        if turn and pair["kind"] == "differs" and pair["position"] is not None:
            tokens = other.written[: pair["position"]]
            margin = next(turn.compute(margin_after, other.entry.config, tokens))
            pair = compare_texts(*texts, margin, dtype)
        yield pair


def results(runs: Sequence[Run]) -> JsonObject:
    """What follows from the times of the runs: of each seconds and tokens by the end of each step,
    the table, how many times as fast as plain decoding it is, also in a sentence, and what this
    rests on."""
    updates = []
    columns = []
    labels = []
    for at, (run, rate, (_, text)) in enumerate(zip(runs, rates(runs), factors(runs), strict=True)):
        clock = race_clock(run.steps, run.counts, rate)
        updates.append({"at": at, "clock": codec.json_data(clock)})
        columns.append(measured(run.counts.at_rate(rate), run.speedup))
        factor = f"{text}×".replace(" to ", "–") if text else ""  # room beside the title
        labels.append("1×" if run.entry.autoregressive else factor)
    rows = []
    for cells in zip(*columns, strict=True):
        rows.append({"name": cells[0][0], "cells": [cell[1:] for cell in cells]})
    return {
        "note": "",  # what it did before
        "updates": updates,
        "table": rows,
        "factors": labels,
        "headline": headline(runs),
        "basis": basis(runs),
    }


def of_traces(
    entries: Sequence[Entry], traces: Sequence[Trace], name: str = "recorded race", **more: object
) -> str:
    """Recorded runs on the same prompt as one message.

    `more` has "badge", what the page calls it, and "when" and where they were recorded, in words.
    """
    runs = runs_of(entries)
    updates = []
    for at, (run, trace) in enumerate(zip(runs, traces, strict=True)):
        updates.append(added(at, run, trace.steps) | {"state": "done"})
        run.speedup = trace.speedup  # what a run was timed at travels in its trace
    data = results(runs) | about(runs, traces[0], **more)
    data["updates"] = [new | own for new, own in zip(updates, data["updates"], strict=True)]
    return message(name, state="done", pairs=remarks(list(pairs_of(runs))), **data)
