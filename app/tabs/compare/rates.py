"""How fast the runs of a comparison are: the one source of its factors, its race and its table.

A run that was timed has the rate that its rounds give. It is its speedup times one rate of plain
decoding, that of all rounds, so that factors, times and tokens per second always agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from statistics import mean

from specviz.record.metrics import Counts
from specviz.record.trace import PairedSpeedup

from .entry import Entry, titles

WIDE = 1.2  # the best round over the worst, from which on their mean is about right only
UNTIMED = "not timed"


@dataclass
class Run:
    """A run of a comparison as far as it is known.

    Args:
        entry: what its column runs.
        title: what it is called beside the others.
        counts: of its steps.
        speedup: over plain decoding, once it was timed.
        steps: seconds and tokens of each step, as the run took them.
        written: its new tokens.
    """

    entry: Entry
    title: str
    counts: Counts = field(default_factory=Counts)
    speedup: PairedSpeedup | None = None
    steps: list[tuple[float, int]] = field(default_factory=list)
    written: list[int] = field(default_factory=list)

    @property
    def label(self) -> str:
        """How many times as fast as plain decoding it is; empty where it ended with its first step,
        as there is nothing to time."""
        if self.speedup:
            return f"{self.speedup.speedup:.1f}×"
        if self.entry.autoregressive:
            return "1×"
        return UNTIMED if self.counts.timed_tokens else ""


def runs_of(entries: Sequence[Entry]) -> list[Run]:
    """The runs of some entries, of which nothing is decoded."""
    return list(map(Run, entries, titles(entries)))


def rates(runs: Sequence[Run]) -> list[float]:
    """Tokens per second of each run, nan where nothing was timed; every speedup gets the rate of
    plain decoding that they are computed from."""
    # One rate of plain decoding for all columns, though each was timed against rounds of its own.
    rounds = [run.speedup.plain_tokens_per_s for run in runs if run.speedup]
    found = []
    for run in runs:
        rate = run.counts.tokens_per_s
        if run.speedup:
            plain = mean(rounds)
            rate = plain * run.speedup.speedup
            run.speedup = replace(run.speedup, plain_tokens_per_s=plain)
        elif rounds and run.entry.autoregressive:
            rate = mean(rounds)
        found.append(rate)
    return found


def race_clock(
    steps: Sequence[tuple[float, int]], counts: Counts, rate: float
) -> list[tuple[float, int]]:
    """Seconds and tokens by the end of each step, so that the last of n tokens comes at n / rate.

    Args:
        steps: seconds and tokens of each step, as the run took them.
        counts: of the whole run.
        rate: tokens per second.
    """
    scale = counts.time_scale(rate)
    elapsed = 0.0
    total = 0
    clock = []
    for index, (seconds, tokens) in enumerate(steps):
        # The first step also reads the prompt, so it takes what its tokens take at this rate.
        elapsed += tokens / rate if index == 0 and rate > 0 else scale * seconds
        total += tokens
        clock.append((elapsed, total))
    return clock


def headline(runs: Sequence[Run]) -> str:
    """Who is how many times as fast as plain decoding, the fastest first, why a run is slower, and
    what was not timed, as somebody else waited."""
    known = [(run.speedup, run.title, run.counts) for run in runs if run.speedup]
    known.sort(key=lambda one: one[0].speedup, reverse=True)
    parts = []
    more = []
    words = "is {} times as fast as plain decoding"
    for speedup, title, counts in known:
        parts.append(f"{title} {words.format(times(speedup))}")
        words = "{} times"
        if speedup.speedup < 1:
            # A step lasts as long as its tokens take at its rate.
            passes = counts.tokens_per_pass / speedup.speedup
            more.append(f"Here a step of {title} costs {passes:.1f} plain passes.")
    if parts:
        more.insert(0, f"{', '.join(parts)}.")
    untimed = ", ".join(run.title for run in runs if run.label == UNTIMED)
    if untimed:
        more.append(f"Not timed, as other work came first: {untimed}.")
    return " ".join(more)


def times(speedup: PairedSpeedup) -> str:
    """How many times as fast as plain decoding a run is, as far as its rounds agree."""
    about = ""
    if speedup.high > WIDE * speedup.low:
        about = "about "
    return f"{about}{speedup.speedup:.1f}"
