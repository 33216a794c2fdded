"""What an engine says of its speculation in one line, request or scrape, what all of them say, and what follows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_low
from typing import Any, NamedTuple

NAMES = {"vllm": "vLLM", "llama.cpp": "llama.cpp", "sglang": "SGLang", "tensorrt-llm": "TensorRT-LLM"}


@dataclass(frozen=True)
class Window:
    """What one line, request or scrape says; None or () where it does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        source: which of the engine's formats it is; two formats may count the same steps.
        steps, drafted, accepted: drafts that were verified, one for each request and pass, and their tokens in all.
        acceptance_length: tokens per step with the bonus token, where the engine gives no counts.
        per_position: the fraction of the steps that accepted the first 1, 2, ... draft tokens.
        running, throughput, seconds: requests that are decoded together, their tokens per second, and for how long.
        draft_share: the part of that time in which tokens were drafted.
        graphs: whether passes ran as CUDA graphs.
        prompts: how many prompts or tokens of prompts were read in the same time.
    """

    engine: str
    source: str
    steps: float | None = None
    drafted: float | None = None
    accepted: float | None = None
    acceptance_length: float | None = None
    per_position: tuple[float, ...] = ()
    running: float | None = None
    throughput: float | None = None
    seconds: float | None = None
    draft_share: float | None = None
    graphs: bool | None = None
    prompts: float | None = None

    @property
    def speculates(self) -> bool:
        """Whether anything was drafted."""
        return bool(self.drafted) or self.acceptance_length is not None


class Advice(NamedTuple):
    """One thing that the numbers say: a fixed word for programs, sentences, and the engine's setting, if any."""

    code: str
    text: str
    flag: str | None = None


@dataclass(frozen=True)
class Report:
    """The windows of one engine taken together; None where the text does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        windows: what it was made from; those that speculate.
        steps, drafted_per_step: verified drafts, one for each request and pass, and the tokens of each.
        acceptance_length: tau, tokens per step with the bonus token.
        acceptance_rate: accepted over drafted tokens.
        per_position: the fraction of the steps that accepted the first 1, 2, ... draft tokens.
        running_requests: requests decoded together, the median.
        throughput: S, tokens per second of so many: over the whole time where that is known, else the median.
        draft_share: the part of a step in which tokens are drafted.
        baseline: B, tokens per second of autoregressive decoding.
        advice: what follows; the verdict comes first.
    """

    engine: str
    windows: tuple[Window, ...]
    steps: int | None
    drafted_per_step: float | None
    acceptance_length: float | None
    acceptance_rate: float | None
    per_position: tuple[float, ...]
    running_requests: float | None
    throughput: float | None
    draft_share: float | None
    baseline: float | None = None
    advice: tuple[Advice, ...] = ()

    @property
    def step_price(self) -> float | None:
        """c = tau B / S, the time of a step in plain steps; None where one of the three is not known."""
        speedup = self.speedup
        return self.acceptance_length / speedup if speedup and self.acceptance_length else None

    @property
    def speedup(self) -> float | None:
        """S / B."""
        return self.throughput / self.baseline if self.throughput and self.baseline else None

    @property
    def pays(self) -> bool | None:
        """Whether the speedup is more than 1."""
        return None if self.speedup is None else self.speedup > 1

    def to_dict(self) -> dict[str, Any]:
        """The report as plain JSON data, without what it was made from."""
        names = [name for name in self.__dataclass_fields__ if name not in ("windows", "advice")]
        data = {name: getattr(self, name) for name in (*names, "step_price", "speedup", "pays")}
        return data | {"advice": [one._asdict() for one in self.advice]}


def pool(engine: str, windows: Sequence[Window]) -> Report:
    """Take the windows of one engine together."""
    # Counts come from the format that counted most steps, since two formats may count the same.
    every = [one for one in windows if one.speculates]
    groups = [[one for one in every if one.source == source] for source in dict.fromkeys(one.source for one in every)]
    seen = max(groups, key=lambda group: sum(one.steps or 0.0 for one in group), default=[])
    timed = [one for one in seen if one.throughput] or [one for one in every if one.throughput]
    counted = [one for one in seen if one.steps and one.drafted and one.accepted is not None] or seen
    steps, drafted, accepted = (
        sum(getattr(one, name) or 0.0 for one in counted) for name in ("steps", "drafted", "accepted")
    )
    tau = 1 + accepted / steps if steps else _mean([(one.acceptance_length, one.running or 1.0) for one in seen])
    rates = [
        _mean([(one.per_position[place], one.steps or 1.0) for one in seen if len(one.per_position) > place]) or 0.0
        for place in range(max((len(one.per_position) for one in seen), default=0))
    ]
    loads = [one.running for one in timed or seen if one.running]
    running = median_low(loads) if loads else None
    return Report(
        engine, tuple(seen), round(steps) or None, drafted / steps if steps else None, tau,
        accepted / drafted if drafted else None, tuple(rates), running,
        throughput_of([one for one in timed if one.running == running]),
        _mean([(one.draft_share, one.seconds or 1.0) for one in every]),
    )  # fmt: skip


def throughput_of(windows: Sequence[Window]) -> float | None:
    """Tokens per second: over the whole time if all windows say how long they were, else their median."""
    timed = [one for one in windows if one.throughput]
    if timed and all(one.seconds for one in timed):
        return _mean([(one.throughput, one.seconds or 0.0) for one in timed])
    return median([one.throughput or 0.0 for one in timed]) if timed else None


def _mean(weighted: Sequence[tuple[float | None, float]]) -> float | None:
    known = [(value, weight) for value, weight in weighted if value is not None]
    return fmean(*zip(*known, strict=True)) if any(weight for _, weight in known) else None


def rows_of(report: Report) -> list[tuple[str, str]]:
    """(name, value with its unit) of everything that the text says."""
    rows = [
        ("steps", report.steps, "{:,.0f}"),
        ("drafted per step", report.drafted_per_step, "{:.2f} tokens"),
        ("acceptance length", report.acceptance_length, "{:.2f} tokens per step, with the bonus token"),
        ("acceptance rate", report.acceptance_rate, "{:.1%} of the drafted tokens"),
        ("requests", report.running_requests, "{:.0f} at a time"),
        ("throughput", report.throughput, "{:,.1f} tokens/s"),
        ("plain decoding", report.baseline, "{:,.1f} tokens/s"),
        ("cost of a step", report.step_price, "{:.2f} plain steps"),
        ("drafting", report.draft_share, "{:.0%} of a step"),
        ("speedup", report.speedup, "{:.2f} times plain decoding"),
        ("positions", "  ".join(f"{rate:.3f}" for rate in report.per_position) or None, "{}"),
    ]
    return [(name, style.format(value)) for name, value, style in rows if value is not None]
