"""A comparison as messages to the page: its runs one after the other, and remarks on their texts.

A message opens a comparison with its "columns", and brings "news" of them: each with "at" (which column), "state",
"steps", "figures", "note" and "pairs" (of texts), as far as they are new.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date
from functools import cache
from itertools import islice
from os import cpu_count
from pathlib import Path
from typing import Any

from specviz import DRAFTERS, RunConfig, Step, Trace, codec, run
from specviz.benchmarks.trials import ROUNDS
from specviz.files import TRACES
from specviz.metrics import Counts, clock
from specviz.player.payload import described, message, step_payload
from specviz.proof.same_text import margin_at
from specviz.trace import PairedSpeedup

from ...machine.engine import Engine, batch_by_time
from ...machine.queue import until_run_waits
from ...parts.failures import reason
from ...parts.run_store import new_name
from .compared_run import ComparedRun
from .texts import comparison

WARM_UP = 2  # steps before each run that are not counted, so that none pays for a cold start
LETTERS = "ABC"
RACE_PROMPT = 'def read_lines(path):\n    """Return the lines of a file."""\n'
RUNNERS = ("model", "medusa", "eagle")  # the drafters of the recorded race; the controls open with the same
RACE = RunConfig(RACE_PROMPT, "sequoia:size=12", "exact-match", temperature=0, max_new_tokens=48)
RECORDED = "recorded race"  # its name in the store


def play(engine: Engine, entries: Sequence[ComparedRun], title: str | None = None) -> Iterator[str]:
    """Decode every entry, one at a time; the page keeps the previous results until the first step arrives.

    Args:
        engine: has the models.
        entries: what to compare; they share the prompt.
        title: of the pair; the engine's first where it is None.

    Raises:
        ValueError: if none of them can even begin (the prompt is too long, say).
    """
    name, held, opened = new_name("comparison"), [], False
    with engine.exclusive():
        for news in engine.loading(title):
            yield message("", state="loading", note=news)
        news_of = engine.compute(decoded, entries, title=title)
        opening = next(news_of)
        for news in news_of:
            if isinstance(news, list):
                traces = news
                break
            held.append(news)
            if "steps" in news or opened:
                yield message(name, news=held, state="running", **opening)
                held, opened, opening = [], True, {}
        if not opened:
            raise ValueError(held[0]["note"])
        yield message(name, state="done")
        for at, (entry, trace) in enumerate(zip(entries, traces, strict=True)):
            if entry.plain or trace is None:
                continue
            for turn in filter(None, until_run_waits(engine.compute(timed, entry, trace.counts, title=title))):
                note = f"Timing {entry.letter} against plain decoding: {turn.rounds} of {ROUNDS} rounds."
                yield message(name, news=[{"at": at, "paired": codec.plain(turn)}], state="done", note=note)
    yield message(name, state="done")


def timed(pair: Any, entry: ComparedRun, first: Counts) -> Iterator[PairedSpeedup | None]:
    """A run against plain decoding in alternating rounds; work for `Engine.compute`."""
    yield from entry.timed(pair, first)


def decoded(pair: Any, entries: Sequence[ComparedRun]) -> Iterator[dict[str, Any] | list[Trace | None]]:
    """What is compared, then the runs one after the other as news, at last their records, None for one that failed.

    A run that fails keeps what it wrote, and the others are decoded still.
    """
    yield head(entries, entries[0].config.prompt, described(pair.info))
    written: list[list[int]] = [[] for _ in entries]
    counted = [Counts() for _ in entries]
    traces: list[Trace | None] = [None for _ in entries]
    for at, entry in enumerate(entries):
        steps: list[Step] = []
        try:
            for _ in islice(entry.steps(pair), WARM_UP):
                pass
            for group in batch_by_time(entry.steps(pair)):
                steps += group
                written[at] += [token for step in group for token in step.emitted]
                yield steps_news(at, entries, group, counted) | {"pairs": pairs(entries, written, at)}
            traces[at] = entry.trace(pair, steps)
            ended = {i for i, trace in enumerate(traces) if trace}
            yield {"at": at, "state": "done", "pairs": pairs(entries, written, at, pair, ended)}
        except Exception as error:
            yield {"at": at, "state": "error", "note": reason(error, log=counted[at].passes > 0)}
    yield traces


def steps_news(at: int, entries: Sequence[ComparedRun], steps: Sequence[Step], counted: list[Counts]) -> dict[str, Any]:
    """New steps of a column, with its figures so far, and how all columns do against plain decoding.

    Args:
        counted: the sums of every column before these steps, which are added.
    """
    shown, before = [step_payload(step, entries[at].verifier) for step in steps], counted[at]
    counted[at] += Counts.of(steps)
    plain = next((one for one, entry in zip(counted, entries, strict=True) if entry.plain), Counts())
    return {
        "at": at, "state": "running", "steps": shown, "clock": codec.plain(clock(steps, before)),
        "figures": codec.plain(counted[at].figures()), "speedups": codec.plain([one.speedup(plain) for one in counted]),
    }  # fmt: skip


def pairs(
    entries: Sequence[ComparedRun], written: Sequence[list[int]], at: int, pair: Any = None, ended: Collection[int] = ()
) -> list[dict[str, Any]]:
    """Remarks on the text of one column compared with the columns before it.

    Args:
        written: the new tokens of every column so far.
        at: which column.
        pair: the models, where its run has ended.
        ended: the columns whose runs came to their end.
    """
    comparisons = []
    for before in range(at):
        if written[before]:
            margin = pair and Margin(pair, entries[at], written[at])
            dtype = pair and pair.info.get("dtype")
            both = entries[before], written[before], entries[at], written[at]
            comparisons.append(comparison(*both, margin, dtype, whole={before, at} <= set(ended)))
    return comparisons


class Margin:
    """How far apart the two best candidates for the token at an index were, after the tokens before it."""

    def __init__(self, pair: Any, entry: ComparedRun, written: Sequence[int]) -> None:
        self.pair, self.entry, self.written = pair, entry, written

    def __call__(self, index: int) -> float:
        prompt = self.pair.encode(self.entry.config.prompt)
        return margin_at(self.pair, self.entry.config, [*prompt, *self.written[:index]])


def head(entries: Sequence[ComparedRun], prompt: str | Sequence[int], pair: str, **more: Any) -> dict[str, Any]:
    """What is compared, sent once."""
    same = {entry.shape for entry in entries}
    alike = len(same) == 1 < len({str(entry.config.drafter) for entry in entries})
    return {"columns": [entry.about(alike) for entry in entries], "prompt": prompt, "pair": pair, **more}


def race_path(drafter: str) -> Path:
    """The file of a run of the race."""
    return TRACES / "race" / f"{drafter}.json"


def record_race(pair: Any) -> Iterator[tuple[str, Trace]]:
    """Every run of the race, after one warm-up run (`python -m app.record_traces`)."""
    about = {"recorded": date.today().isoformat(), "machine": f"a machine of {cpu_count()} cores"}
    for drafter in RUNNERS:
        config = replace(RACE, drafter=DRAFTERS[drafter]())
        run(pair, config)
        trace = run(pair, config)
        yield drafter, replace(trace, pair=trace.pair | about)


def race() -> list[Trace]:
    """The race that the tab opens with: three drafters of one target on one prompt."""
    return [Trace.from_json(race_path(drafter).read_text("utf-8")) for drafter in RUNNERS]


def when(traces: list[Trace]) -> str:
    """When and where they were recorded, in words."""
    about = traces[0].pair
    day = date.fromisoformat(about["recorded"])
    return f"recorded on {day.day} {day:%B %Y} on {about['machine']}"


def recorded(_: Any = None) -> str:
    """The comparison that the tab opens with; a page's call brings one argument, which may be anything."""
    return opening()


@cache
def opening() -> str:
    """The same, written once."""
    traces = race()
    return of_traces(traces, RECORDED, badge="recorded runs", when=when(traces))


def of_traces(traces: Sequence[Trace], name: str = RECORDED, **more: Any) -> str:
    """Recorded runs on the same prompt as one message.

    Args:
        traces: the runs, at most three; one with the builder "plain" is plain decoding.
        name: of the comparison on the page.
        more: "badge", what the page calls it; "when" and where they were recorded, in words.
    """
    entries = [
        ComparedRun(letter, trace.config, trace.config.resolved.builder.name == "plain")
        for letter, trace in zip(LETTERS, traces, strict=False)
    ]
    counted = [Counts() for _ in entries]
    news = [steps_news(at, entries, trace.steps, counted) | {"state": "done"} for at, trace in enumerate(traces)]
    written = [list(trace.tokens) for trace in traces]
    stopped = [trace.stop == "stopped" for trace in traces]
    for at, (column, trace) in enumerate(zip(news, traces, strict=True)):
        if trace.speedup:
            column["paired"] = codec.plain(trace.speedup)
        column["pairs"] = [
            comparison(entries[i], written[i], entries[at], written[at], whole=not (stopped[i] or stopped[at]))
            for i in range(at)
        ]
    about = head(entries, traces[0].prompt_text, traces[0].pair["name"], **more)
    return message(name, news=news, state="done", **about)
