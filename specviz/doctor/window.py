"""What one line, request, iteration or scrape of an engine says: the common form of all formats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

NAMES = {
    "vllm": "vLLM",
    "llama.cpp": "llama.cpp",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "profile": "acceptance profile",
}
MOST = 1e12  # larger numbers are damaged


@dataclass(frozen=True)
class Window:
    """What one line, request or scrape says; None or () where it does not say.

    Args:
        engine: a name of `NAMES`.
        source: which of the engine's formats it is; two formats may count the same steps.
        steps, drafted, accepted: drafts that were verified, one for each request and pass, and
            their tokens in all.
        acceptance_length: tokens per step with the bonus token, where the engine gives no counts.
        draft_length: drafted tokens per step, where the engine gives no counts.
        per_position: the fraction of all steps that accepted the first 1, 2, ... draft tokens.
        running_requests, throughput, seconds: requests that are decoded together, their tokens per
            second, and for how long.
        draft_share: the part of that time in which tokens were drafted.
        prompts: how many prompts or tokens of prompts were read in the same time.
    """

    engine: str
    source: str
    steps: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    acceptance_length: float | None = None
    draft_length: float | None = None
    per_position: tuple[float, ...] = ()
    running_requests: float | None = None
    throughput: float | None = None
    seconds: float | None = None
    draft_share: float | None = None
    prompts: float | None = None

    @property
    def speculates(self) -> bool:
        """Whether anything was drafted."""
        return bool(self.drafted) or self.acceptance_length is not None


def number(record: Mapping[str, Any], *names: str) -> float | None:
    """The first of some entries that is a number from 0; None where none is."""
    for name in names:
        value = record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < MOST:
            return float(value)
    return None


def rates_of(values: Any, percent: bool = False) -> tuple[float, ...]:
    """Fractions by position; () for anything else."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) > 128:
        return ()
    scale = 100.0 if percent else 1.0
    rates = [number({"": value}, "") for value in values]
    if any(rate is None or rate > scale for rate in rates):
        return ()
    return tuple(rate / scale for rate in rates if rate is not None)


def of_histogram(counts: Mapping[int, float], bonus: int = 0) -> dict[str, Any]:
    """Steps, accepted tokens and rates by position that follow from a histogram.

    Args:
        counts: accepted tokens of a step -> how many steps.
        bonus: 1 if the bonus token is counted among them.
    """
    steps = sum(counts.values())
    if not steps:
        return {}
    longest = max(counts) - bonus
    # A draft is accepted up to position k by every step that accepted k tokens or more.
    reached = [
        sum(count for length, count in counts.items() if length - bonus >= position)
        for position in range(1, longest + 1)
    ]
    return {
        "steps": steps,
        "accepted": sum(reached),
        "per_position": tuple(count / steps for count in reached),
    }


def histogram(value: Any) -> dict[int, float]:
    """A histogram that is a list, or an object with numbers as keys; {} for anything else."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict) or len(value) > 1000:
        return {}
    counts = {}
    for key, entry in value.items():
        count = number({"": entry}, "")
        if count is None or not str(key).isdecimal() or int(key) > 1000:
            return {}
        counts[int(key)] = count
    return counts


def steps_of(accepted: float, length: float) -> float | None:
    """Steps that accepted so many tokens, `length` each on average; None where none did."""
    if not accepted or length <= 0 or not math.isfinite(length):
        return None
    return max(1.0, round(accepted / length))


def add_ranks(ranks: Sequence[Window]) -> Window:
    """Windows of one time as one: sums, and means weighted with the steps."""
    if len(ranks) == 1:
        return ranks[0]
    fields: dict[str, Any] = {}
    for name in ("steps", "drafted", "accepted", "running_requests", "throughput", "prompts"):
        values = [getattr(rank, name) for rank in ranks if getattr(rank, name) is not None]
        if values:
            fields[name] = sum(values)
    active = [rank for rank in ranks if rank.speculates]
    weights = [rank.steps or rank.running_requests or 1.0 for rank in active]
    for name in ("acceptance_length", "draft_length"):
        values = [getattr(rank, name) for rank in active]
        if values and None not in values:
            fields[name] = fmean(values, weights)
    fields["per_position"] = mean_rates([rank.per_position for rank in active], weights)
    return Window(ranks[0].engine, ranks[0].source, **fields)


def mean_rates(rates: Sequence[tuple[float, ...]], weights: Sequence[float]) -> tuple[float, ...]:
    """Means by position; a shorter draft accepted nothing further down."""
    means = []
    for position in range(max(map(len, rates), default=0)):
        column = [sum(each[position : position + 1]) for each in rates]
        means.append(fmean(column, weights))
    return tuple(means)
