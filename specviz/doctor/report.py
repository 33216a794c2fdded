"""All that an engine says of its speculation at one load, taken together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_low
from typing import NamedTuple

from ..base.codec import JsonObject
from ..record.chain_rates import conditional_rates
from .log_lines import V0
from .window import FORMATS, NAMES, Window, mean_rates

OTHER_LOAD = 2.0  # requests that are so many times as many are another load
RARE_LOAD = 0.1  # of the windows; a rarer load is one of a start or an end
# What a report says: a label and a format for people; of rates by position what they are of.
FIELDS: dict[str, list[str]] = FORMATS["report"]
POSITIONS: dict[str, list[str]] = FORMATS["positions"]


class Advice(NamedTuple):
    """One thing that the numbers say: a fixed word for programs, sentences, and the engine's
    setting, if any."""

    code: str
    text: str
    flag: str | None = None


@dataclass(frozen=True)
class Report(Window):
    """The windows of one engine at one load taken together: sums of counts, means of fractions,
    and the median of the requests.

    `acceptance_length` is tau, and `throughput` is S: over the whole time where that is known, else
    the median. `per_position` is marginal, of all steps.

    Args:
        windows: what it was made from; those that speculate.
        baseline: B, tokens per second of autoregressive decoding.
        simulated: what says that acceptance was simulated; "" if nothing does.
        advice: what follows; the verdict comes first.
    """

    windows: tuple[Window, ...] = ()
    baseline: float | None = None
    simulated: str = ""
    advice: tuple[Advice, ...] = ()

    @property
    def conditional(self) -> tuple[float, ...]:
        """Of the steps that accepted the position before, the fraction that accepted this one."""
        return conditional_rates(self.per_position)

    @property
    def drafted_per_step(self) -> float | None:
        """Tokens of a draft."""
        if self.steps and self.drafted is not None:
            return self.drafted / self.steps
        return self.draft_length

    @property
    def accepted_per_step(self) -> float | None:
        """Accepted tokens of a draft."""
        if self.acceptance_length is None:
            return None
        return self.acceptance_length - 1

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted over drafted tokens."""
        if self.drafted and self.accepted is not None:
            return self.accepted / self.drafted
        if self.drafted_per_step and self.accepted_per_step is not None:
            return self.accepted_per_step / self.drafted_per_step
        return None

    @property
    def step_price(self) -> float | None:
        """c = tau B / S, the time of a step in plain steps; None where one of the three is not
        known."""
        if not self.speedup or not self.acceptance_length:
            return None
        return self.acceptance_length / self.speedup

    @property
    def speedup(self) -> float | None:
        """S / B."""
        if self.throughput and self.baseline:
            return self.throughput / self.baseline
        return None

    @property
    def pays(self) -> bool | None:
        """Whether the speedup is more than 1."""
        if self.speedup is None:
            return None
        return self.speedup > 1

    def to_dict(self) -> JsonObject:
        """The report as plain JSON data, without what it was made from."""
        names = ("engine", *FIELDS, *POSITIONS, "pays", "simulated")
        advice = [one._asdict() for one in self.advice]
        return {name: getattr(self, name) for name in names} | {"advice": advice}


def pool(windows: Sequence[Window]) -> Iterator[Report]:
    """Take the windows of each engine together, a report for each load."""
    for engine in NAMES:
        of_engine = [window for window in windows if window.engine == engine]
        if of_engine:
            yield from _loads(of_engine)


def _loads(windows: Sequence[Window]) -> Iterator[Report]:
    active = [window for window in windows if window.speculates]
    if not active:
        yield _report(windows, windows, ())
        return
    by_source: dict[str, list[Window]] = {}
    for window in active:
        by_source.setdefault(window.source, []).append(window)
    # Counts come from the format that counted most, since two formats may count the same steps.
    counted = max(
        by_source.values(), key=lambda same: (_sum(one.steps for one in same) or 0.0, len(same))
    )
    if any(window.throughput for window in counted):
        for load in loads_of(counted):
            yield _report(load, load, load)
    else:
        yield _report(counted, active, active)


def loads_of(windows: Sequence[Window]) -> list[list[Window]]:
    """Windows by the number of requests that were decoded together.

    A load is another one where the number at least doubles from one window to the next larger one.
    What is rare, or does not say its load, goes to a load that is near, or the largest.
    """
    ordered = sorted((window for window in windows if window.running_requests), key=_requests)
    groups: list[list[Window]] = []
    # Sorted, so that a gap between neighbours is a gap between loads.
    for window in ordered:
        if not groups or _requests(window) >= OTHER_LOAD * _requests(groups[-1][-1]):
            groups.append([])
        groups[-1].append(window)
    loads: list[list[Window]] = []
    rare = RARE_LOAD * len(ordered)
    for group in groups:
        if loads and min(len(group), len(loads[-1])) < rare:
            loads[-1] += group
        else:
            loads.append(group)
    rest = [window for window in windows if not window.running_requests]
    if not loads:
        return [rest]
    max(loads, key=len).extend(rest)
    return loads


def _report(counted: Sequence[Window], timed: Sequence[Window], active: Sequence[Window]) -> Report:
    """One load: what was counted, what was timed, and all that drafted."""
    timed = [one for one in timed if one.throughput]
    # Counts weigh more than rounded means, so windows without them are left out where there are
    # others.
    complete = []
    for one in counted:
        if one.steps and one.drafted and one.accepted is not None:
            complete.append(one)
    with_counts = complete or counted
    steps = _sum(one.steps for one in with_counts)
    accepted = _sum(one.accepted for one in with_counts)
    length = _mean((one.acceptance_length, _requests(one)) for one in with_counts)
    # The engine V0 counts accepted tokens behind a rejected one: its own length is right.
    if steps and accepted is not None and not any(one.source == V0 for one in with_counts):
        length = 1 + accepted / steps
    loads = []
    for one in timed or counted:
        if one.running_requests:
            loads.append(one.running_requests)
    running = None
    if loads:
        running = median_low(loads)
    with_rates = [one for one in counted if one.per_position]
    return Report(
        counted[0].engine,
        "",
        steps=steps and float(round(steps)),
        drafted=_sum(one.drafted for one in with_counts),
        accepted=accepted,
        acceptance_length=length,
        draft_length=_mean((one.draft_length, _requests(one)) for one in counted),
        per_position=mean_rates(
            [one.per_position for one in with_rates], [one.steps or 1.0 for one in with_rates]
        ),
        running_requests=running,
        throughput=throughput_of([one for one in timed if one.running_requests == running]),
        draft_share=_mean((one.draft_share, one.seconds or 1.0) for one in active),
        windows=tuple(counted) if active else (),
    )


def throughput_of(windows: Sequence[Window]) -> float | None:
    """Tokens per second: over the whole time if all windows say how long they were, else their
    median."""
    timed = [window for window in windows if window.throughput]
    if all(window.seconds for window in timed):
        return _mean((window.throughput, window.seconds or 0.0) for window in timed)
    return median(window.throughput or 0.0 for window in timed)


def _requests(window: Window) -> float:
    """How many requests a window is of: its weight where it gives no counts."""
    return window.running_requests or 1.0


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    if known:
        return sum(known)
    return None


def _mean(weighted: Iterable[tuple[float | None, float]]) -> float | None:
    known = []
    for value, weight in weighted:
        if value is not None and weight:
            known.append((value, weight))
    if known:
        return fmean(*zip(*known, strict=True))
    return None


def rows_of(report: Report) -> list[tuple[str, str]]:
    """(name, value with its unit) of everything that the text says."""
    rows = []
    for name, (label, style) in FIELDS.items():
        value = getattr(report, name)
        if value is not None:
            rows.append((label, style.format(value)))
    for name, (label, denominator) in POSITIONS.items():
        rates = getattr(report, name)
        if rates:
            listed = "  ".join(f"{rate:.3f}" for rate in rates)
            rows.append((label, f"{listed}  by position, {denominator}"))
    return rows
