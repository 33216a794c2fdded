"""From what an engine says to whether speculation pays, and at which length.

A step drafts, verifies, and writes tau = 1 + accepted / steps tokens. With the throughput S, and the throughput B of
plain decoding of as many requests, a step takes the time of c = tau B / S plain steps, and speculation pays where tau >
c, which is where S > B. The first L positions accept the same tokens whatever follows them, so tau(L) = 1 + r_1 + ... +
r_L. What a step of L tokens costs, the text says only in part: of the extra time c - 1, some is the same for any length
and some is in proportion to it. Both ends give a band; the time of drafting, where it is known, is in proportion, which
makes the band narrower; and steps of two lengths give a line.

Source: Leviathan, Kalman, Matias 2023, theorem 3.8 and its cost coefficient; the rest follows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from statistics import median, median_low
from typing import Any

from .window import Window

Line = tuple[float, float]  # the price of a step that drafts nothing, and of each drafted token, in plain steps


SAID = (
    "engine", "steps", "drafted_per_step", "acceptance_length", "acceptance_rate", "per_position", "running_requests",
    "throughput", "baseline", "step_price", "speedup", "pays",
)  # fmt: skip


@dataclass(frozen=True)
class Advice:
    """One thing that the numbers say.

    Args:
        code: a fixed word for programs.
        text: a sentence or two with the reason and its numbers.
        flag: the engine's own setting; None where there is none.
    """

    code: str
    text: str
    flag: str | None = None


@dataclass(frozen=True)
class Cut:
    """A draft length up to the one of the log.

    Args:
        length: draft tokens of a step.
        acceptance_length: tokens per step with the bonus token.
        speedup_low, speedup_high: over plain decoding, the ends of the band; None without a baseline.
    """

    length: int
    acceptance_length: float
    speedup_low: float | None
    speedup_high: float | None

    @property
    def middle(self) -> float:
        """The geometric mean of the band; 0 without one."""
        return ((self.speedup_low or 0.0) * (self.speedup_high or 0.0)) ** 0.5


@dataclass(frozen=True)
class Report:
    """The windows of one engine taken together; None where the text does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        steps: verified drafts, one for each request and pass.
        drafted_per_step: draft tokens.
        acceptance_length: tokens per step with the bonus token.
        acceptance_rate: accepted over drafted tokens.
        per_position: the share of the steps that accepted the first 1, 2, ... draft tokens.
        running_requests: requests decoded together, the median.
        throughput: tokens per second of so many, the median; over the whole time where that is known.
        baseline: tokens per second without speculation.
        draft_share: the part of a step in which tokens are drafted.
        lengths_seen: the whole numbers of tokens that windows drafted per step.
        throughputs: of the windows with so many requests, in order.
        without_graphs: windows whose passes ran without CUDA graphs.
        windows: what it was made from; `seen` are those that speculate.
        notes: sentences on how numbers were understood.
        advice: what follows; the verdict comes first.
    """

    engine: str
    steps: int | None
    drafted_per_step: float | None
    acceptance_length: float | None
    acceptance_rate: float | None
    per_position: tuple[float, ...]
    running_requests: float | None
    throughput: float | None
    draft_share: float | None
    lengths_seen: tuple[int, ...]
    throughputs: tuple[float, ...]
    without_graphs: int
    windows: tuple[Window, ...]
    notes: tuple[str, ...]
    baseline: float | None = None
    advice: tuple[Advice, ...] = ()

    @property
    def seen(self) -> tuple[Window, ...]:
        """The windows that speculate."""
        return tuple(one for one in self.windows if one.speculates)

    @property
    def step_price(self) -> float | None:
        """c = tau B / S, the time of a step in plain steps; None where one of the three is not known."""
        if not (self.baseline and self.throughput and self.acceptance_length):
            return None
        return self.acceptance_length * self.baseline / self.throughput

    @property
    def speedup(self) -> float | None:
        """Throughput over baseline."""
        return self.throughput / self.baseline if self.throughput and self.baseline else None

    @property
    def pays(self) -> bool | None:
        """Whether the speedup is more than 1."""
        return None if self.speedup is None else self.speedup > 1

    @property
    def lengths(self) -> tuple[Cut, ...]:
        """Every length up to that of the log, with the band of its speedup."""
        tau, rates, price = self.acceptance_length, self.per_position, self.step_price
        if tau is None:
            return ()
        if not rates:
            length = round(self.drafted_per_step or 0)
            now = tau / price if price else None
            return (Cut(length, tau, now, now),) if length else ()
        prices = prices_of_length(self)
        taus = [1 + sum(rates[:length]) for length in range(1, len(rates) + 1)]
        if len(self.lengths_seen) < 2:
            taus[-1] = tau  # which is not rounded
        found = []
        for length, written in enumerate(taus, 1):
            ends = sorted(written / one for one in prices(length)) if price else (None, None)
            found.append(Cut(length, written, *ends))
        return tuple(found)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON data, without what it was made from."""
        found = {name: getattr(self, name) for name in SAID}
        return found | {name: [asdict(one) for one in getattr(self, name)] for name in ("lengths", "advice")}


def pool(windows: Sequence[Window]) -> Report:
    """Take the windows of one engine together; only those that speculate count."""
    seen = tuple(one for one in windows if one.speculates)
    counted = [one for one in seen if one.steps and one.accepted is not None and one.drafted is not None]
    steps = sum(one.steps or 0.0 for one in counted) or None
    drafted, accepted = (sum(getattr(one, name) or 0.0 for one in seen) for name in ("drafted", "accepted"))
    if steps:
        tau: float | None = 1 + sum(one.accepted or 0.0 for one in counted) / steps
        each: float | None = sum(one.drafted or 0.0 for one in counted) / steps
    else:  # an engine that gives means alone gives them for as many passes in each window, of all its requests
        tau = _mean([(one.acceptance_length, one.running or 1.0) for one in seen])
        each = _mean([(one.draft_length, one.running or 1.0) for one in seen])
    rate = accepted / drafted if drafted else (tau - 1) / each if tau and each else None
    lengths = sorted({length for one in seen for length in _lengths(one)})
    # a window of shorter drafts says nothing of the positions after them
    told = [(one.per_position[: max(_lengths(one), default=None)], one.steps or 1.0) for one in seen]
    per_position = [
        _mean([(rates[place], weight) for rates, weight in told if len(rates) > place]) or 0.0
        for place in range(max((len(rates) for rates, _ in told), default=0))
    ]
    running = median_low(known) if (known := [one.running for one in seen if one.running]) else None
    usual = [one for one in seen if one.running == running]  # a throughput is that of so many requests
    return Report(
        windows[0].engine, None if steps is None else round(steps), each, tau, rate, tuple(per_position), running,
        throughput_of(usual),
        _mean([(one.draft_share, one.seconds or 1.0) for one in seen]),
        tuple(lengths),
        tuple(one.throughput for one in usual if one.throughput),
        sum(one.graphs is False for one in seen), tuple(windows),
        tuple(dict.fromkeys(one.note for one in seen if one.note)),
    )  # fmt: skip


def throughput_of(windows: Sequence[Window]) -> float | None:
    """Tokens per second: over the whole time if all windows say how long they were, else their median."""
    timed = [one for one in windows if one.throughput]
    if timed and all(one.seconds for one in timed):
        return _mean([(one.throughput, one.seconds or 0.0) for one in timed])
    return median([one.throughput or 0.0 for one in timed]) if timed else None


def baseline_of(windows: Sequence[Window], report: Report) -> float | None:
    """The throughput of the windows of the same engine that decode as many requests without speculation."""
    plain = [one for one in windows if not one.speculates and one.engine == report.engine]
    return throughput_of(
        [
            one
            for one in plain
            if one.running == report.running_requests or not (one.running and report.running_requests)
        ]
    )


def prices_of_length(report: Report) -> Callable[[float], tuple[float, float]]:
    """The two ends of what a step of at most L drafted tokens costs, in plain steps; at the log's length both are c."""
    most = len(report.per_position) or round(report.drafted_per_step or 1) or 1
    each = min(report.drafted_per_step or most, most)
    now = report.step_price or 1.0
    extra = max(0.0, now - 1)
    drafting = min((report.draft_share or 0.0) * now, extra)
    line = line_of_lengths(report)

    def ends(length: float) -> tuple[float, float]:
        if line:
            return line[0] + line[1] * length, line[0] + line[1] * length
        if length == most:
            return now, now
        # Where lengths vary, a limit of L leaves between L/most and min(L, mean)/mean of the drafted tokens.
        least = length / most
        left = least if length > most else min(length, each) / each
        return now - drafting + drafting * left, now - extra + extra * least

    return ends


def line_of_lengths(report: Report) -> Line | None:
    """The price of a step as a line over its length, by least squares, if windows of the same load have two lengths."""
    groups: dict[int, list[Window]] = defaultdict(list)
    for one in report.seen:
        if one.throughput and one.steps and len(_lengths(one)) == 1 and one.running in (None, report.running_requests):
            groups[next(iter(_lengths(one)))].append(one)
    if len(groups) < 2 or not report.baseline:
        return None
    points = []
    for length, windows in groups.items():
        tau = 1 + sum(one.accepted or 0.0 for one in windows) / sum(one.steps or 0.0 for one in windows)
        points.append((float(length), tau * report.baseline / (throughput_of(windows) or 1.0)))
    x, y = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope = sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)
    return (y - slope * x, slope) if slope >= 0 and y - slope * x > 0 else None


def one_longer(report: Report) -> Cut | None:
    """One more drafted token, if it were accepted as often after the last one as the last one after those before."""
    rates = report.per_position
    if not rates or not rates[-1] or report.acceptance_length is None:
        return None
    before = rates[-2] or 1.0 if len(rates) > 1 else 1.0
    written = report.acceptance_length + rates[-1] * min(1.0, rates[-1] / before)
    ends = sorted(written / one for one in prices_of_length(report)(len(rates) + 1))
    return Cut(len(rates) + 1, written, *ends)


def _lengths(window: Window) -> set[int]:
    """The numbers of tokens that a window drafted per step: those of its steps, or the one of all of them."""
    if window.per_step:
        return {drafted for drafted, _ in window.per_step if drafted}
    each = window.drafted / window.steps if window.drafted and window.steps else window.draft_length
    return {round(each)} if each and abs(each - round(each)) < 0.02 else set()


def _mean(weighted: Sequence[tuple[Any, float]]) -> float | None:
    known = [(value, weight) for value, weight in weighted if value is not None]
    total = sum(weight for _, weight in known)
    return sum(value * weight for value, weight in known) / total if total else None
