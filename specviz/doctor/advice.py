"""What follows from the report of an engine: sentences, each with a fixed word for programs and the
engine's setting."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .engine_rules import TABLES
from .report import Advice, Report

# Of each engine: its settings for a length and for many requests, and what a window of it is.
ENGINES: dict[str, dict[str, str]] = TABLES["advice"]

# What a log or a command line has where acceptance is simulated, in vLLM, SGLang, Modular MAX and
# ATOM.
SIMULATED = re.compile(
    r"synthetic_acceptance_\w{1,10}\W{1,6}[\d\[]"
    r"|--synthetic-acceptance-rate"
    r"|rejection_sample_method\W{1,6}synthetic"
    r"|SGLANG_SIMULATE_ACC_LEN\W{1,6}(?!-?[10]\b)\d"
    r"|--spec-decode-acceptance-(?:rate|length)"
)
ALIKE = 4  # windows that all say the same length to the last digit


def simulated_by(text: str) -> str:
    """The setting in a text that simulates acceptance; "" if there is none."""
    found = SIMULATED.search(text)
    if found:
        return found[0]
    return ""


def advice_on(report: Report) -> Iterator[Advice]:
    """Everything that the numbers of an engine say; the verdict comes first."""
    if not report.windows:
        yield Advice(
            "no-speculation-seen",
            "What was recognised is of plain decoding. Speculation may be off, no request may "
            "have been decoded, or what was drafted stands in a form that is not known here.",
        )
        return
    # A log of simulated acceptance says nothing about the model, so that comes before its numbers.
    yield from _simulated(report)
    yield _verdict(report)
    yield from _shorter(report)
    yield from _first_position(report)
    yield from _tail(report)
    yield from _under_load(report)
    if any(window.source == "V0 log" for window in report.windows):
        yield Advice(
            "old-engine",
            "These lines are of vLLM's engine V0, which ended with version 0.10. Its token rate "
            "includes tokens behind a rejected one, so it is higher than the length says.",
        )


def _simulated(report: Report) -> Iterator[Advice]:
    why = ""
    if report.simulated:
        why = f"{report.simulated} is set"
    elif _constant(report):
        why = f"all {len(report.windows)} lengths are {report.acceptance_length:.2f} to the digit"
    if why:
        yield Advice(
            "simulated",
            f"The text is not the model's: acceptance seems to be simulated, since {why}. The "
            "times are those of a benchmark; what would be accepted is not known.",
        )


def _constant(report: Report) -> bool:
    """Whether all lengths are the same, which chance does not do unless all or nothing is
    accepted."""
    lengths = [window.acceptance_length for window in report.windows]
    most = report.drafted_per_step
    varied = len(set(lengths)) > 1 or len(lengths) < ALIKE or lengths[0] in (None, 1.0)
    if varied or report.acceptance_length is None:
        return False
    return most is None or report.acceptance_length < most + 0.98


def _verdict(report: Report) -> Advice:
    tau = report.acceptance_length
    # tau tokens a step, s tokens/s, b those of plain decoding, c the price of a step in plain
    # steps.
    s = report.throughput
    b = report.baseline
    c = report.step_price
    writes = "The tokens of a step are not known"
    if tau:
        writes = f"A step writes {tau:.2f} tokens"
    if s is None or b is None:
        speed = ". The text gives no throughput: add the engine's log"
        ask = (
            "Measure the tokens/s without speculation under the same load, and give them as "
            "--baseline"
        )
        if s:
            speed = f", and the engine {s:.1f} tokens/s"
            ask += f": speculation pays if they are less than {s:.1f}"
        return Advice("needs-baseline", f"{writes}{speed}. {ask}.")
    # Only windows of the load that the verdict is about.
    timed = 0
    for window in report.windows:
        if window.throughput and window.running_requests == report.running_requests:
            timed += 1
    text = f"{s:.1f} tokens/s are {s / b:.2f} times the {b:.1f} of plain decoding"
    if timed:
        text += f", from {timed} {_engine(report, 'window') or 'record'}{'s' * (timed > 1)}"
    text += f". {writes}"
    if c:
        text += f" and takes the time of {c:.2f} plain steps"
        if report.draft_share:
            text += f", {report.draft_share:.0%} of it for drafting"
    text += "."
    if any(window.prompts for window in report.windows):
        text += " That time includes reading prompts."
    if s > b:
        if c and c < 0.98:
            text += " No step takes less than a plain one: the baseline may be of another load."
        return Advice("pays", f"It pays: {text}")
    # With a plain step to draft each token and another to verify it, the price is 1 + 2 times the
    # length.
    if c and c > 1 + 2 * (report.drafted_per_step or c):
        text += (
            " Much of it is outside the models, such as missing CUDA graphs, sampling or the "
            "scheduler."
        )
    elif c and tau and tau < 1.5:
        text += " Too few tokens are accepted."
    elif c:
        text += " Acceptance is not the problem."
    return Advice("overhead", f"It does not pay: {text}")


def _shorter(report: Report) -> Iterator[Advice]:
    # Of the extra time of a step some is fixed and some grows with the length, the drafting in any
    # case. The text does not say how much, so a length has a band of speedups; lengths are compared
    # by its geometric mean.
    rates = report.per_position
    c = report.step_price
    now = report.speedup
    if not (c and now and len(rates) > 1 and rates[0] >= 0.3):
        return
    extra = max(0.0, c - 1)
    # What drafting takes shrinks with the length for certain; the rest of the extra time may not.
    drafting = min(extra, (report.draft_share or 0.0) * c)
    bands = []
    for length in range(1, len(rates)):
        tau = 1 + sum(rates[:length])
        saved = 1 - length / len(rates)
        low = tau / (c - drafting * saved)
        high = tau / (c - extra * saved)
        bands.append(((low * high) ** 0.5, length, tau, low, high))
    middle, length, tau, low, high = max(bands)
    if middle > 1.02 * now and high > 1:
        yield Advice(
            "shorten",
            f"Draft {length} instead of {len(rates)} tokens: a step then writes {tau:.2f} "
            f"tokens instead of {report.acceptance_length:.2f}. Estimate: {low:.2f} to "
            f"{high:.2f} times plain decoding, now {now:.2f}.",
            _length(report, length),
        )


def _first_position(report: Report) -> Iterator[Advice]:
    if report.acceptance_length is None:
        return
    # Without rates the first token is accepted at most as often as tokens are.
    known = bool(report.per_position)
    first = report.per_position[0] if known else report.acceptance_length - 1
    if first < 0.3:
        yield Advice(
            "first-position-low",
            "The first drafted token is accepted in "
            f"{'' if known else 'at most '}{first:.0%} of the steps. The usual "
            "reasons are the chat template, the tokenizer, or a draft of another target.",
        )


def _tail(report: Report) -> Iterator[Advice]:
    tau = report.acceptance_length
    rates = report.per_position or _alike_rates(report)
    if tau is None:
        return
    tail = next((place for place in range(1, len(rates)) if sum(rates[place:]) <= 0.05 * tau), None)
    if tail is None:
        return
    assumed = "A"
    if not report.per_position:
        assumed = "If every position is accepted alike, a"
    yield Advice(
        "flat-tail",
        f"{assumed} draft of {tail} instead of {len(rates)} writes "
        f"{1 + sum(rates[:tail]):.2f} of the {tau:.2f} tokens.",
        _length(report, tail),
    )


def _alike_rates(report: Report) -> tuple[float, ...]:
    """Rates by position with one chance for all, where only the length and the draft are known."""
    accepted = report.accepted_per_step
    length = report.drafted_per_step or 0.0
    drafted = round(length)
    varies = abs(length - drafted) > 0.05
    if varies or accepted is None or not 1 < drafted <= 64 or accepted >= drafted:
        return ()
    low = 0.0
    high = 1.0
    # Bisection for the one chance whose chain accepts as many tokens as were.
    for _ in range(40):
        chance = (low + high) / 2
        if sum(chance**place for place in range(1, drafted + 1)) < accepted:
            low = chance
        else:
            high = chance
    return tuple(low**place for place in range(1, drafted + 1))


def _under_load(report: Report) -> Iterator[Advice]:
    # Under load a pass is bound by arithmetic, and every rejected token costs its share.
    running = report.running_requests or 0.0
    each = report.drafted_per_step or 0.0
    rate = report.acceptance_rate
    if running >= 8 and round(each) >= 3 and rate is not None and rate < 0.5:
        yield Advice(
            "trees-under-load",
            f"With {running:g} requests a pass verifies about {running * (each + 1):.0f} "
            f"tokens, of which {running * each * (1 - rate):.0f} are rejected. As the load "
            "grows, draft fewer, in a chain.",
            _engine(report, "by_load"),
        )


def _engine(report: Report, name: str) -> str | None:
    return ENGINES.get(report.engine, {}).get(name)


def _length(report: Report, length: int) -> str | None:
    """The setting for so many drafted tokens; SGLang counts the root among them as well."""
    flag = _engine(report, "length")
    # The texts of settings have LENGTH or NODES where the number belongs.
    return flag and flag.replace("LENGTH", str(length)).replace("NODES", str(length + 1))
