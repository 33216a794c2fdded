"""How fast the runs of a comparison are: the one source of its factors, its race and its table.

A run that was timed has the rate that its rounds give. It is its speedup times one rate of plain
decoding, that of all rounds, so that factors, times and tokens per second always agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from statistics import mean

from specviz.record.metrics import Counts
from specviz.record.trace import PairedSpeedup

from .entry import Entry, titles

WIDE = 1.2  # the best round over the worst, from which on their mean is about right only


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


def runs_of(entries: Sequence[Entry]) -> list[Run]:
    """The runs of some entries, of which nothing is decoded."""
    return list(map(Run, entries, titles(entries)))


def rates(runs: Sequence[Run]) -> list[float]:
    """Tokens per second of each run; nan where nothing was timed."""
    # One rate of plain decoding for all columns, though each was timed against rounds of its own.
    rounds = [run.speedup.plain_tokens_per_s for run in runs if run.speedup]
    found = []
    for run in runs:
        if run.speedup:
            found.append(mean(rounds) * run.speedup.speedup)
        elif rounds and run.entry.autoregressive:
            found.append(mean(rounds))
        else:
            found.append(run.counts.tokens_per_s)
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


def factors(runs: Sequence[Run]) -> list[tuple[float, str]]:
    """How many times as fast as plain decoding each run is, as a number and as text: of its rounds
    or, where it was not timed, of how fast it decoded. Zero and "" for plain decoding itself and
    where nothing is known."""
    found = list(zip(runs, rates(runs), strict=True))
    plain = 0.0
    for run, rate in found:
        if run.entry.autoregressive:
            plain = rate
    answers = []
    for run, rate in found:
        factor, text = 0.0, ""
        if run.speedup:
            factor, text = run.speedup.speedup, times(run.speedup)
        # nan, where there is no second step, is not above 0 either
        elif rate > 0 and plain > 0 and not run.entry.autoregressive:
            factor = rate / plain
            text = f"{factor:.1f}"
        answers.append((factor, text))
    return answers


def headline(runs: Sequence[Run]) -> str:
    """Who is how many times as fast as plain decoding, the fastest first, and whose order the
    rounds do not decide, and why a run is slower; empty where nothing is known of plain
    decoding."""
    known = []
    timed = []
    costs: list[str] = []
    for run, (factor, text) in zip(runs, factors(runs), strict=True):
        if run.speedup and is_decided(run.speedup):
            timed.append((run.title, run.speedup))
            if run.speedup.high > WIDE * run.speedup.low:
                text = f"about {text}"
        if text:
            known.append((factor, run.title, text))
        if 0 < factor < 1:
            # A step lasts as long as its tokens take at its rate.
            passes = run.counts.timed_tokens / run.counts.timed_passes / factor
            unit = "" if costs else " plain passes"
            costs.append(f"{passes:.1f}{unit} with {run.title}")
    if not known:
        return ""
    (_, title, fastest), *others = sorted(known, reverse=True)
    sentence = f"{title} is {fastest} times as fast as plain decoding"
    for _, other, text in others:
        sentence += f", {other}: {text} times"
    for (one, first), (other, second) in combinations(timed, 2):
        if first.low <= second.high and second.low <= first.high:
            sentence += f"; {one} and {other} are too close to say which is faster"
    if costs:
        sentence += f". Here a step costs {', '.join(costs)}"
    return f"{sentence}."


def is_decided(speedup: PairedSpeedup) -> bool:
    """Whether all rounds agree on which is faster, the run or plain decoding."""
    return speedup.low > 1 or speedup.high < 1


def times(speedup: PairedSpeedup) -> str:
    """How many times as fast as plain decoding a run is: a range where its rounds do not decide
    which of the two is faster."""
    if is_decided(speedup):
        return f"{speedup.speedup:.1f}"
    return f"{speedup.low:.1f} to {speedup.high:.1f}"


def basis(runs: Sequence[Run]) -> str:
    """What factors, race and table rest on."""
    parts = []
    untimed = []
    for run in runs:
        if run.speedup:
            speedup = run.speedup
            parts.append(f"{run.title} {speedup.speedup:.2f} times as fast ({speedup.spread})")
        elif not run.entry.autoregressive:
            untimed.append(run.title)
    sentences = []
    if parts:
        sentences.append(
            f"Timed in turns with plain decoding: {'; '.join(parts)}. "
            "Factors, times and table are from these rounds."
        )
    if untimed:
        sentences.append(f"Decoded once and not timed in turns: {', '.join(untimed)}.")
    return " ".join(sentences)
