"""A comparison as messages to the page: runs decoded one after the other, remarks on their texts,
and a table.

A message opens a comparison with its "columns", and brings "updates" of them: each with "at" (which
column), "state", "steps", "clock" and "note", as far as they are new; "pairs" and "table" are
whole. A "clock" without steps takes the place of the times so far: a run that has ended, and one
that was timed, has the times of its rate (`rates.py`).
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
from specviz.record.trace import PairedSpeedup, Trace
from specviz.view.payload import described, figures, measured, message
from specviz.view.step_payload import step_payload

from ...service.decoding import begin, is_due, timing
from ...service.failures import reason
from ...service.queued_run import Turn
from ...service.run_store import new_name
from .entry import Entry, titles
from .rates import basis, factors, headline, race_clock, rates
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
        ValueError: if none of them can even begin (the prompt is too long, say).
    """
    board = Board(entries, settings=settings)
    for at, entry in enumerate(entries):
        unsent = list[Step]()
        try:
            blank, steps = begin(turn, entry.config, WARM_UP)
            board.begin(blank)
            for step in steps:
                unsent.append(step)
                if not is_due(unsent):
                    yield None
                    continue
                yield board.decoded(at, unsent)
                unsent = []
            if unsent:
                yield board.decoded(at, unsent)
            yield board.end(at)
        except Exception as error:
            if unsent:
                yield board.decoded(at, unsent)
            yield board.fail(at, error)
    if len(board.failed) == len(entries):
        raise ValueError(board.failed[0])
    # All texts are there before anything is timed: a visitor reads them meanwhile, and a comparison
    # that is stopped here is whole.
    for at in sorted(board.ended):
        if entries[at].autoregressive:
            continue
        yield board.timing(at)
        for speedup in timing(turn, entries[at].config, board.counts[at]):
            if speedup is None:
                yield None
                continue
            board.speedups[at] = speedup
            yield board.timing(at)
    # Texts that should be equal and are not get their reason last, as it costs a pass: where the
    # two best candidates are as good as tied, rounding decides between them.
    margins = {}
    for a, b, position in board.unexpected():
        tokens = board.written[b][:position]
        margins[a, b] = next(turn.compute(margin_after, entries[b].config, tokens))
    yield message(board.name, state="done", pairs=remarks(board.pairs(margins)), **board.results())


def margin_after(pair: Pair, config: Any, tokens: Sequence[int]) -> Iterator[float]:
    """How far apart the two best candidates were after these new tokens; for `Turn.compute`."""
    yield margin_at(pair, config, tokens)


class Board:
    """All that is known of a comparison, whose columns are the entries, and what the page is sent
    of it."""

    def __init__(self, entries: Sequence[Entry], name: str = "", settings: str = "") -> None:
        self.entries = entries
        self.name = name or new_name("comparison")
        self.settings = settings
        self.written: list[list[int]] = [[] for _ in entries]
        self.steps: list[list[tuple[float, int]]] = [[] for _ in entries]  # seconds and tokens
        self.counts = [Counts() for _ in entries]
        self.speedups: list[PairedSpeedup | None] = [None for _ in entries]
        self.ended: set[int] = set()
        self.failed: dict[int, str] = {}
        self.dtype: str | None = None
        self.head: JsonObject = {}  # what the message with the first step also brings
        self.pending: list[JsonObject] = []  # of columns that failed before any step came

    def begin(self, blank: Trace) -> None:
        """A column is about to decode; the first of them says what is compared."""
        # All have the same prompt; what is said of it travels with the first step of any of them.
        if not any(self.written) and not self.head:
            pair = described(blank.pair)
            self.head = self.about(blank.prompt_text, pair, settings=self.settings)
            self.dtype = blank.pair.get("dtype")

    def decoded(self, at: int, steps: Sequence[Step]) -> str:
        """The message with new steps of a column."""
        self.pending.append(self.add(at, steps))
        more = self.head
        self.head = {}
        runs = titles(self.entries)
        note = f"Decoding run {at + 1} of {len(runs)}: {runs[at]}."
        return self._flush(note=note, **more)

    def fail(self, at: int, error: Exception) -> str | None:
        """The message on a column that failed; the others follow."""
        has_text = bool(self.written[at])
        sentence = reason(error, log=has_text)
        if has_text or not isinstance(error, ValueError):
            sentence = f"The run failed. {sentence}"
        self.failed[at] = sentence
        self.pending.append({"at": at, "state": "error", "note": sentence})
        if any(self.written):
            return self._flush()
        return None

    def end(self, at: int) -> str:
        """The message on a column that came to its end."""
        self.ended.add(at)
        self.pending.append({"at": at, "state": "done"})
        return self._flush(pairs=remarks(self.pairs()))

    def timing(self, at: int) -> str:
        """The message while a column is timed; what its rounds give is sent when all are over, as a
        number that is read does not change."""
        speedup = self.speedups[at]
        done = 0
        if speedup:
            done = speedup.rounds
        title = titles(self.entries)[at]
        note = f"Timing {title} against plain decoding: {done} of {ROUNDS} rounds."
        return message(self.name, state="timing", note=note)

    def _flush(self, **more: Any) -> str:
        updates = self.pending
        self.pending = []
        return message(self.name, updates=updates, state="running", **more)

    def about(self, prompt: str, pair: str, **more: object) -> JsonObject:
        """What is compared, sent once."""
        kinds = [entry.kind for entry in self.entries]
        columns = []
        for at, (entry, title) in enumerate(zip(self.entries, titles(self.entries), strict=True)):
            columns.append(
                {
                    "letter": entry.letter,
                    # of two of a kind the last one has its colour
                    "kind": "other" if entry.kind in kinds[at + 1 :] else entry.kind,
                    "title": title,
                    "details": entry.details,
                    "lossy": entry.lossy,
                    "plain": entry.autoregressive,
                }
            )
        pair += f", temperature {self.entries[0].config.temperature:g}"  # of all runs
        return {"columns": columns, "prompt": prompt, "pair": pair, **more}

    def add(self, at: int, steps: Sequence[Step]) -> JsonObject:
        """New steps of a column, as an update."""
        clock = []
        for step in steps:
            self.counts[at] += Counts.of([step])
            self.steps[at].append((step.seconds.total, len(step.emitted)))
            clock.append((self.counts[at].elapsed, self.counts[at].tokens))
            self.written[at] += step.emitted
        payloads = [step_payload(step, self.entries[at].config.verifier) for step in steps]
        return {"at": at, "state": "running", "steps": payloads, "clock": codec.json_data(clock)}

    def pairs(self, margins: dict[tuple[int, int], float] | None = None) -> list[JsonObject]:
        """What is found of every two columns that came to their end."""
        found = []
        for a, b in combinations(sorted(self.ended), 2):
            texts = self.entries[a], self.written[a], self.entries[b], self.written[b]
            found.append(compare_texts(*texts, (margins or {}).get((a, b)), self.dtype))
        return found

    def unexpected(self) -> Iterator[tuple[int, int, int]]:
        """Every two columns whose texts should be the same and are not, and where they part."""
        ended = list(combinations(sorted(self.ended), 2))
        for (a, b), pair in zip(ended, self.pairs(), strict=True):
            if pair["kind"] == "differs" and pair["position"] is not None:
                yield a, b, pair["position"]

    def results(self) -> JsonObject:
        """What follows from the times of the runs: of each that ended seconds and tokens by the end
        of each step, the table, how many times as fast as plain decoding it is, also in a sentence,
        and what this rests on."""
        rates_found = rates(self.entries, self.counts, self.speedups)
        updates = []
        for at in sorted(self.ended):
            clock = race_clock(self.steps[at], self.counts[at], rates_found[at])
            updates.append({"at": at, "clock": codec.json_data(clock)})
        labels = []
        found = factors(self.entries, self.counts, self.speedups)
        for entry, (_, text) in zip(self.entries, found, strict=True):
            factor = f"{text}×".replace(" to ", "–") if text else ""  # room beside the title
            labels.append("1×" if entry.autoregressive else factor)
        return {
            "note": "",  # what it did before
            "updates": updates,
            "table": self.table(rates_found),
            "factors": labels,
            "headline": headline(self.entries, self.counts, self.speedups),
            "basis": basis(self.entries, self.speedups),
        }

    def table(self, rates_found: Sequence[float]) -> list[JsonObject]:
        """The runs in numbers, at these tokens per second: rows with a name and, for each column, a
        value and a note below it."""
        columns = []
        for counts, rate, speedup in zip(self.counts, rates_found, self.speedups, strict=True):
            columns.append(measured(figures(counts.at_rate(rate)), speedup))
        rows = []
        for cells in zip(*columns, strict=True):
            rows.append({"name": cells[0][0], "cells": [cell[1:] for cell in cells]})
        return rows


def of_traces(
    entries: Sequence[Entry], traces: Sequence[Trace], name: str = "recorded race", **more: object
) -> str:
    """Recorded runs on the same prompt as one message.

    `more` has "badge", what the page calls it, and "when" and where they were recorded, in words.
    """
    board = Board(entries, name)
    updates = []
    for at, trace in enumerate(traces):
        updates.append(board.add(at, trace.steps) | {"state": "done"})
    # What a run was timed at travels in its trace.
    board.speedups = [trace.speedup for trace in traces]
    board.ended = set(range(len(traces)))
    results = board.results()
    for update, timed in zip(updates, results["updates"], strict=True):
        timed |= update | {"clock": timed["clock"]}
    about = board.about(traces[0].prompt_text, described(traces[0].pair), **more)
    return message(name, state="done", pairs=remarks(board.pairs()), **results, **about)
