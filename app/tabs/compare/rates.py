"""How fast the runs of a comparison are: the one source of its factors, its race and its table.

A run that was timed has the rate that its rounds give. It is its speedup times one rate of plain
decoding, that of all rounds, so that factors, times and tokens per second always agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from statistics import mean

from specviz.record.metrics import Counts
from specviz.record.trace import PairedSpeedup

from .entry import Entry, titles

WIDE = 1.2  # the best round over the worst, from which on their mean is about right only


def rates(
    entries: Sequence[Entry], counts: Sequence[Counts], speedups: Sequence[PairedSpeedup | None]
) -> list[float]:
    """Tokens per second of each run; nan where nothing was timed."""
    # One rate of plain decoding for all columns, though each was timed against rounds of its own.
    rounds = [speedup.plain_tokens_per_s for speedup in speedups if speedup]
    found = []
    for entry, own, speedup in zip(entries, counts, speedups, strict=True):
        if speedup:
            found.append(mean(rounds) * speedup.speedup)
        elif rounds and entry.autoregressive:
            found.append(mean(rounds))
        else:
            found.append(own.tokens_per_s)
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


def factors(
    entries: Sequence[Entry], counts: Sequence[Counts], speedups: Sequence[PairedSpeedup | None]
) -> list[tuple[float, str]]:
    """How many times as fast as plain decoding each run is, as a number and as text: of its rounds
    or, where it was not timed, of how fast it decoded. Zero and "" for plain decoding itself and
    where nothing is known."""
    found = rates(entries, counts, speedups)
    plain = 0.0
    for entry, rate in zip(entries, found, strict=True):
        if entry.autoregressive:
            plain = rate
    answers = []
    for entry, rate, speedup in zip(entries, found, speedups, strict=True):
        factor, text = 0.0, ""
        if speedup:
            factor, text = speedup.speedup, times(speedup)
        # nan, where there is no second step, is not above 0 either
        elif rate > 0 and plain > 0 and not entry.autoregressive:
            factor = rate / plain
            text = f"{factor:.1f}"
        answers.append((factor, text))
    return answers


def headline(
    entries: Sequence[Entry],
    counts: Sequence[Counts],
    speedups: Sequence[PairedSpeedup | None],
) -> str:
    """Who is how many times as fast as plain decoding, the fastest first, and whose order the
    rounds do not decide, and why a run is slower; empty where nothing is known of plain decoding.

    Args:
        entries: what the columns run.
        counts: of each run.
        speedups: of each run that was timed; of the others it counts how fast they decoded.
    """
    known = []
    spreads = []
    found = factors(entries, counts, speedups)
    for title, (factor, text), speedup in zip(titles(entries), found, speedups, strict=True):
        if speedup and is_decided(speedup):
            spreads.append((title, speedup.low, speedup.high))
            if speedup.high > WIDE * speedup.low:
                text = f"about {text}"
        if text:
            known.append((factor, title, text))
    if not known:
        return ""
    (_, title, fastest), *others = sorted(known, reverse=True)
    sentence = f"{title} is {fastest} times as fast as plain decoding"
    for _, other, text in others:
        sentence += f", {other}: {text} times"
    for (one, low, high), (other, lowest, highest) in combinations(spreads, 2):
        if low <= highest and lowest <= high:
            sentence += f"; {one} and {other} are too close to say which is faster"
    costs: list[str] = []
    for title, (factor, _), own in zip(titles(entries), found, counts, strict=True):
        if 0 < factor < 1:
            # A step lasts as long as its tokens take at its rate.
            passes = own.timed_tokens / own.timed_passes / factor
            unit = "" if costs else " plain passes"
            costs.append(f"{passes:.1f}{unit} with {title}")
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


def basis(entries: Sequence[Entry], speedups: Sequence[PairedSpeedup | None]) -> str:
    """What factors, race and table rest on."""
    parts = []
    untimed = []
    for entry, title, speedup in zip(entries, titles(entries), speedups, strict=True):
        if speedup:
            rounds = f"1 round {speedup.speedup:.2f}"
            if speedup.rounds > 1:
                rounds = f"{speedup.rounds} rounds {speedup.low:.2f} to {speedup.high:.2f}"
            parts.append(f"{title} in {rounds} times as fast")
        elif not entry.autoregressive:
            untimed.append(title)
    sentences = []
    if parts:
        sentences.append(
            f"Timed in turns with plain decoding: {'; '.join(parts)}. "
            "Factors, times and table are from these rounds."
        )
    if untimed:
        sentences.append(f"Decoded once and not timed in turns: {', '.join(untimed)}.")
    return " ".join(sentences)
