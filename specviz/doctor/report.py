"""What an engine says of its speculation in one line, request or scrape, what all of them say, and
what follows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median, median_low
from typing import Any, NamedTuple

NAMES = {
    "vllm": "vLLM",
    "llama.cpp": "llama.cpp",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
}
# Sources: docs.vllm.ai (speculative-config, dynamic_speculative_decoding), llama-server --help,
# docs.sglang.io (speculative_decoding, server_arguments), nvidia.github.io/TensorRT-LLM
# (speculative-decoding, llm_args).
LENGTH = {
    "vllm": """--speculative-config '{{"num_speculative_tokens": {0}}}'""",
    "llama.cpp": "--spec-draft-n-max {0}",
    "sglang": "--speculative-num-steps {0} --speculative-num-draft-tokens {1}",
    "tensorrt-llm": "speculative_config: {{max_draft_len: {0}}}",
}
BY_LOAD = {
    "vllm": """--speculative-config '{"num_speculative_tokens_per_batch_size": ...}'""",
    "sglang": "--speculative-eagle-topk 1",
    "tensorrt-llm": "speculative_config: {draft_len_schedule: ...}",
}
ITEM = {
    "vllm": "window",
    "llama.cpp": "request",
    "sglang": "batch line",
    "tensorrt-llm": "iteration",
}
# What a report says: its label and format for people.
FIELDS = {
    "steps": ("steps", "{:,.0f}"),
    "drafted_per_step": ("drafted per step", "{:.2f} tokens"),
    "acceptance_length": ("acceptance length", "{:.2f} tokens per step, with the bonus token"),
    "acceptance_rate": ("acceptance rate", "{:.1%} of the drafted tokens"),
    "running_requests": ("requests", "{:.0f} at a time"),
    "throughput": ("throughput", "{:,.1f} tokens/s"),
    "baseline": ("plain decoding", "{:,.1f} tokens/s"),
    "step_price": ("cost of a step", "{:.2f} plain steps"),
    "draft_share": ("drafting", "{:.0%} of a step"),
    "speedup": ("speedup", "{:.2f} times plain decoding"),
}


@dataclass(frozen=True)
class Window:
    """What one line, request or scrape says; None or () where it does not say.

    Args:
        engine: "vllm", "llama.cpp", "sglang" or "tensorrt-llm".
        source: which of the engine's formats it is; two formats may count the same steps.
        steps, drafted, accepted: drafts that were verified, one for each request and pass, and
            their tokens in all.
        acceptance_length: tokens per step with the bonus token, where the engine gives no counts.
        per_position: the fraction of the steps that accepted the first 1, 2, ... draft tokens.
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


class Advice(NamedTuple):
    """One thing that the numbers say: a fixed word for programs, sentences, and the engine's
    setting, if any."""

    code: str
    text: str
    flag: str | None = None


@dataclass(frozen=True)
class Report(Window):
    """The windows of one engine taken together: sums of counts, means of fractions, and the median
    of the requests.

    `acceptance_length` is tau, and `throughput` is S: over the whole time where that is known, else
    the median.

    Args:
        windows: what it was made from; those that speculate.
        baseline: B, tokens per second of autoregressive decoding.
    """

    windows: tuple[Window, ...] = ()
    baseline: float | None = None

    @property
    def advice(self) -> tuple[Advice, ...]:
        """What follows; the verdict comes first."""
        return tuple(_advise(self))

    @property
    def drafted_per_step(self) -> float | None:
        """Tokens of a draft."""
        return self.drafted / self.steps if self.steps and self.drafted is not None else None

    @property
    def acceptance_rate(self) -> float | None:
        """Accepted over drafted tokens."""
        return self.accepted / self.drafted if self.drafted and self.accepted is not None else None

    @property
    def step_price(self) -> float | None:
        """c = tau B / S, the time of a step in plain steps; None where one of the three is not
        known."""
        return (
            self.acceptance_length / self.speedup
            if self.speedup and self.acceptance_length
            else None
        )

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
        names = ("engine", *FIELDS, "per_position", "pays")
        return {name: getattr(self, name) for name in names} | {
            "advice": [one._asdict() for one in self.advice]
        }


def pool(engine: str, windows: Sequence[Window]) -> Report:
    """Take the windows of one engine together."""
    # Counts come from the format that counted most steps, since two formats may count the same.
    active = [one for one in windows if one.speculates]
    groups = [
        [one for one in active if one.source == source]
        for source in dict.fromkeys(one.source for one in active)
    ]
    selected = max(groups, key=lambda group: sum(one.steps or 0.0 for one in group), default=[])
    timed = [one for one in selected if one.throughput] or [one for one in active if one.throughput]
    complete = [
        one for one in selected if one.steps and one.drafted and one.accepted is not None
    ] or selected
    steps, drafted, accepted = (
        sum(getattr(one, name) or 0.0 for one in complete)
        for name in ("steps", "drafted", "accepted")
    )
    lengths = [(one.acceptance_length, one.running_requests or 1.0) for one in selected]
    rates = [
        _mean(
            [
                (sum(one.per_position[place:][:1]), one.steps or 1.0)
                for one in selected
                if one.per_position
            ]
        )
        or 0.0
        for place in range(max((len(one.per_position) for one in selected), default=0))
    ]
    loads = [one.running_requests for one in timed or selected if one.running_requests]
    running = median_low(loads) if loads else None
    return Report(
        engine,
        "",
        round(steps) or None,
        drafted,
        accepted,
        1 + accepted / steps if steps else _mean(lengths),
        tuple(rates),
        running,
        throughput_of([one for one in timed if one.running_requests == running]),
        draft_share=_mean([(one.draft_share, one.seconds or 1.0) for one in active]),
        windows=tuple(selected),
    )


def throughput_of(windows: Sequence[Window]) -> float | None:
    """Tokens per second: over the whole time if all windows say how long they were, else their
    median."""
    timed = [one for one in windows if one.throughput]
    if timed and all(one.seconds for one in timed):
        return _mean([(one.throughput, one.seconds or 0.0) for one in timed])
    return median([one.throughput or 0.0 for one in timed]) if timed else None


def _mean(weighted: Sequence[tuple[float | None, float]]) -> float | None:
    present = [(value, weight) for value, weight in weighted if value is not None]
    return fmean(*zip(*present, strict=True)) if any(weight for _, weight in present) else None


def rows_of(report: Report) -> list[tuple[str, str]]:
    """(name, value with its unit) of everything that the text says."""
    values = [(label, style, getattr(report, name)) for name, (label, style) in FIELDS.items()]
    values.append(
        ("positions", "{}", "  ".join(f"{rate:.3f}" for rate in report.per_position) or None)
    )
    return [(label, style.format(value)) for label, style, value in values if value is not None]


def _advise(report: Report) -> Iterator[Advice]:
    """Everything that the numbers of an engine say; the verdict comes first."""
    if not report.windows:
        off = (
            "No line says that tokens were drafted. Speculation may be off, or no request was "
            "decoded."
        )
        yield Advice("no-speculation-seen", off)
        return
    yield _verdict(report)
    yield from _length(report)
    rates, tau, rate = report.per_position, report.acceptance_length or 1.0, report.acceptance_rate
    running, each = report.running_requests or 0.0, report.drafted_per_step or 0.0
    first = rates[0] if rates else tau - 1  # without rates the first is accepted at most that often
    if first < 0.3 and report.acceptance_length:
        yield Advice(
            "first-position-low",
            "The first drafted token is accepted in "
            f"{'' if rates else 'at most '}{first:.0%} of the steps. The usual "
            "reasons are the chat template, the tokenizer, or a draft of another target.",
        )
    tail = next((place for place in range(1, len(rates)) if sum(rates[place:]) <= 0.05 * tau), None)
    if tail is not None:
        yield Advice(
            "flat-tail",
            (
                f"A draft of {tail} instead of {len(rates)} writes {1 + sum(rates[:tail]):.2f} "
                f"of the {tau:.2f} tokens."
            ),
            LENGTH[report.engine].format(tail, tail + 1),
        )
    if running >= 8 and each >= 3 and rate is not None and rate < 0.5:
        yield Advice(
            "trees-under-load",
            f"With {running:g} requests a pass verifies about {running * (each + 1):.0f} "
            "tokens, of which "
            f"{running * each * (1 - rate):.0f} are rejected. As the load grows, draft "
            "fewer, in a chain.",
            BY_LOAD.get(report.engine),
        )


def _verdict(report: Report) -> Advice:
    tau, s, b, c = report.acceptance_length, report.throughput, report.baseline, report.step_price
    writes = f"A step writes {tau:.2f} tokens" if tau else "The tokens of a step are not known"
    if s is None or b is None:
        speed = (
            f", and the engine {s:.1f} tokens/s"
            if s
            else ". The text gives no throughput: add the engine's log"
        )
        ask = (
            "Measure the tokens/s without speculation under the same load, and give them as "
            "--baseline"
        )
        ask += f": speculation pays if they are less than {s:.1f}" if s else ""
        return Advice("needs-baseline", f"{writes}{speed}. {ask}.")
    timed = sum(
        bool(one.throughput) and one.running_requests == report.running_requests
        for one in report.windows
    )
    text = f"{s:.1f} tokens/s are {s / b:.2f} times the {b:.1f} of plain decoding"
    text += (
        f", from {timed} {ITEM[report.engine]}{'s' * (timed > 1)}. {writes}"
        if timed
        else f". {writes}"
    )
    text += f" and takes the time of {c:.2f} plain steps" if c else ""
    text += f", {report.draft_share:.0%} of it for drafting." if c and report.draft_share else "."
    if any(one.prompts for one in report.windows):
        text += " That time includes reading prompts."
    if s > b:
        low = (
            " No step takes less than a plain one: the baseline may be of another load."
            if c and c < 0.98
            else ""
        )
        return Advice("pays", f"It pays: {text}{low}")
    # With a plain step to draft each token and another to verify it, the price is 1 + 2 times the
    # length.
    if c and c > 1 + 2 * (report.drafted_per_step or c):
        text += (
            " Much of it is outside the models, such as missing CUDA graphs, sampling or the "
            "scheduler."
        )
    elif c:
        text += (
            " Too few tokens are accepted."
            if tau and tau < 1.5
            else " Acceptance is not the problem."
        )
    return Advice("overhead", f"It does not pay: {text}")


def _length(report: Report) -> Iterator[Advice]:
    # Of the extra time of a step some is fixed and some grows with the length, the drafting in any
    # case. The text does not say how much, so a length has a band of speedups; lengths are compared
    # by its geometric mean.
    rates, c, now = report.per_position, report.step_price, report.speedup
    if not (c and now and len(rates) > 1 and rates[0] >= 0.3):
        return
    extra = max(0.0, c - 1)
    drafting = min(extra, (report.draft_share or 0.0) * c)
    bands = []
    for length in range(1, len(rates)):
        tau, saved = 1 + sum(rates[:length]), 1 - length / len(rates)
        low, high = tau / (c - drafting * saved), tau / (c - extra * saved)
        bands.append(((low * high) ** 0.5, length, tau, low, high))
    middle, length, tau, low, high = max(bands)
    if middle > 1.02 * now and high > 1:
        yield Advice(
            "shorten",
            f"Draft {length} instead of {len(rates)} tokens: a step then writes {tau:.2f} "
            "tokens instead of "
            f"{report.acceptance_length:.2f}. Estimate: {low:.2f} to {high:.2f} times plain "
            f"decoding, now {now:.2f}.",
            LENGTH[report.engine].format(length, length + 1),
        )
