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


def basis(entries: Sequence[Entry], speedups: Sequence[PairedSpeedup | None]) -> str:
    """What factors, race and table rest on, and which of them the rounds do not tell apart; empty
    where nothing was timed."""
    parts = []
    timed = []
    for title, speedup in zip(titles(entries), speedups, strict=True):
        if speedup:
            rounds = f"1 round {speedup.speedup:.2f}"
            if speedup.rounds > 1:
                rounds = f"{speedup.rounds} rounds {speedup.low:.2f} to {speedup.high:.2f}"
                timed.append((title, speedup))
            parts.append(f"{title} in {rounds} times as fast")
    if not parts:
        return ""
    # A round of each run alternates with one of plain decoding.
    measured = "Each run was timed in turns with plain decoding"
    sentences = [f"{measured}: {'; '.join(parts)}. Factors, times and table are from these rounds."]
    for (first, one), (second, other) in combinations(timed, 2):
        if one.low <= other.high and other.low <= one.high:
            sentences.append(
                f"The rounds of {first} and {second} overlap: which of them is faster is within "
                "their spread."
            )
    return " ".join(sentences)
