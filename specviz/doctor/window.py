"""What one line, request, iteration or scrape of an engine says: the common form of all formats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from statistics import fmean

from ..base.codec import JsonObject
from ..base.files import read_table

Numbers = JsonObject  # fields of a `Window`, and numbers that some of them follow from
# What numbers are called in each format of each engine.
FORMATS = read_table("doctor/formats.toml")
NAMES: dict[str, str] = FORMATS["engines"]
MOST = 1e12  # larger numbers are damaged
MOST_POSITIONS = 128
MOST_DRAFTED = 64
ROUNDED = 0.006  # what two digits of a rate can be off by


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


def number(value: object) -> float | None:
    """A number from 0 as it is; None for anything else."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not 0 <= value < MOST:
        return None
    return float(value)


def rates_of(values: object, scale: float = 1.0) -> tuple[float, ...]:
    """Fractions by position from values up to `scale`; () for anything else."""
    if not isinstance(values, list | tuple) or len(values) > MOST_POSITIONS:
        return ()
    rates = []
    for rate in map(number, values):
        if rate is not None and rate <= scale:
            rates.append(rate)
    if len(rates) == len(values):
        return tuple(rate / scale for rate in rates)
    return ()


def of_histogram(counts: Mapping[int, float], bonus: int = 0) -> JsonObject:
    """Steps, accepted tokens and rates by position that follow from a histogram.

    Args:
        counts: accepted tokens of a step -> how many steps.
        bonus: 1 if the bonus token is counted among them.
    """
    steps = sum(counts.values())
    if not steps:
        return {}
    # A draft is accepted up to position k by every step that accepted k tokens or more.
    reached = []
    for position in range(1, max(counts) - bonus + 1):
        reached.append(sum(count for length, count in counts.items() if length - bonus >= position))
    rates = tuple(count / steps for count in reached)
    return {"steps": steps, "accepted": sum(reached), "per_position": rates}


def histogram(value: object) -> dict[int, float]:
    """A histogram that is a list, or an object with numbers as keys; {} for anything else."""
    if isinstance(value, list):
        value = dict(enumerate(value))
    if not isinstance(value, dict) or len(value) > 1000:
        return {}
    counts = {}
    for key, entry in value.items():
        count = number(entry)
        if count is None or not str(key).isdecimal() or int(key) > 1000:
            return {}
        counts[int(key)] = count
    return counts


def steps_of(accepted: float, length: float) -> float | None:
    """Steps that accepted so many tokens, `length` each on average; None where none did."""
    if not accepted or length <= 0 or not math.isfinite(length):
        return None
    return max(1.0, round(accepted / length))


def drafted_per_step(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Drafted tokens of a step, from SGLang's lengths and rates; None where there are none.

    The rate is that of drafted tokens, (length - 1) / drafted. Until 2025 it was length / (drafted
    + 1): what fits all lines with one whole number is meant.
    """
    known = [(length, rate) for length, rate in pairs if length > 1 and rate > 0]
    if not known:
        return None
    for bonus in (0, 1):  # the newer meaning first, since both fit where lengths hardly differ
        misfits = []
        for drafted in range(1, MOST_DRAFTED + 1):
            misfits.append(
                fmean(
                    abs(rate - (length - 1 + bonus) / (drafted + bonus)) for length, rate in known
                )
            )
        if min(misfits) <= ROUNDED:
            return 1.0 + misfits.index(min(misfits))
    return fmean((length - 1) / rate for length, rate in known)  # it changes from step to step


def window_of(engine: str, source: str, found: Numbers) -> Window:
    """A window of numbers by their names in the formats.

    "tokens" in "milliseconds" or seconds give the throughput, and "rate", SGLang's, the length of a
    draft.
    """
    tokens = found.pop("tokens", 0.0)
    seconds = found.pop("milliseconds", 0.0) / 1000 or found.get("seconds")
    if tokens and seconds:
        found |= {"throughput": tokens / seconds, "seconds": seconds}
    rate = found.pop("rate", 0.0)
    if rate:
        found["draft_length"] = drafted_per_step([(found.get("acceptance_length", 0.0), rate)])
    return Window(engine, source, **found)


def add_ranks(ranks: Sequence[Window]) -> Window:
    """Windows of one time as one: sums, and means weighted with the steps."""
    if len(ranks) == 1:
        return ranks[0]
    fields: JsonObject = {}
    for name in ("steps", "drafted", "accepted", "running_requests", "throughput", "prompts"):
        values = []
        for rank in ranks:
            if getattr(rank, name) is not None:
                values.append(getattr(rank, name))
        if values:
            fields[name] = sum(values)
    active = [rank for rank in ranks if rank.speculates]
    # Ranks that decoded more count more.
    weights = [rank.steps or rank.running_requests or 1.0 for rank in active]
    for name in ("acceptance_length", "draft_length"):
        values = [getattr(rank, name) for rank in active]
        if values and None not in values:
            fields[name] = fmean(values, weights)
    fields["per_position"] = mean_rates([rank.per_position for rank in active], weights)
    return Window(ranks[0].engine, ranks[0].source, **fields)


def mean_rates(rates: Sequence[tuple[float, ...]], weights: Sequence[float]) -> tuple[float, ...]:
    """Means by position; a shorter draft accepted nothing further down."""
    columns = zip_longest(*rates, fillvalue=0.0)
    return tuple(fmean(column, weights) for column in columns)
