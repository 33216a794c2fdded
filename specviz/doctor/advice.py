"""What follows from the numbers: a verdict, and advice with the engine's own flag."""

from __future__ import annotations

from collections.abc import Iterator

from .report import Advice, Report

# Sources: docs.vllm.ai (speculative-config, dynamic_speculative_decoding), llama-server --help, docs.sglang.io
# (speculative_decoding, server_arguments), nvidia.github.io/TensorRT-LLM (speculative-decoding, llm_args).
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
ITEM = {"vllm": "window", "llama.cpp": "request", "sglang": "batch line", "tensorrt-llm": "iteration"}


def advise(report: Report) -> Iterator[Advice]:
    """Everything that the numbers of an engine say; the verdict comes first."""
    if not report.windows:
        off = "No line says that tokens were drafted. Speculation may be off, or no request was decoded."
        yield Advice("no-speculation-seen", off)
        return
    yield _verdict(report)
    yield from _length(report)
    yield from _acceptance(report)
    yield from _load(report)


def _verdict(report: Report) -> Advice:
    tau, s, b, c = report.acceptance_length, report.throughput, report.baseline, report.step_price
    writes = f"A step writes {tau:.2f} tokens" if tau else "The tokens of a step are not known"
    if s is None:
        return Advice(
            "needs-baseline", f"{writes}. The text gives no throughput: add the engine's log, and --baseline."
        )
    if b is None:
        return Advice(
            "needs-baseline",
            f"{writes}, and the engine {s:.1f} tokens/s. Measure the tokens/s without speculation under the same "
            f"load, and give them as --baseline: speculation pays if they are less than {s:.1f}.",
        )
    timed = [one for one in report.windows if one.throughput and one.running == report.running_requests]
    better, item = sum((one.throughput or 0.0) > b for one in timed), ITEM[report.engine]
    several = f", more in {better} of {len(timed)} {item}s" if len(timed) > 1 else f", from one {item}" * len(timed)
    text = f"{s:.1f} tokens/s are {s / b:.2f} times the {b:.1f} of plain decoding{several}. {writes}"
    text += f" and takes the time of {c:.2f} plain steps" if c else ""
    text += f", {report.draft_share:.0%} of it for drafting." if c and report.draft_share else "."
    if any(one.prompts for one in report.windows):
        text += " That time includes reading prompts."
    if s > b:
        low = " No step takes less than a plain one: the baseline may be of another load." if c and c < 0.98 else ""
        return Advice("pays", f"It pays: {text}{low}")
    reason = " Too few tokens are accepted for that cost." if tau and tau < 1.5 else " Acceptance is not the problem."
    limit = 1 + 2 * (report.drafted_per_step or c or 0.0)
    if c and c > limit:
        reason += (
            f" With a plain step to draft each token and another to verify it, it would be {limit:.2f}: the rest is "
            "outside the models, such as missing CUDA graphs, sampling or the scheduler."
        )
    return Advice("overhead", f"It does not pay: {text}{reason if c else ''}")


def _length(report: Report) -> Iterator[Advice]:
    # Of the extra time of a step some is fixed and some grows with the length, the drafting in any case. The text does
    # not say how much, so a length has a band of speedups; lengths are compared by its geometric mean.
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
            f"Draft {length} tokens instead of {len(rates)}: a step then writes {tau:.2f} tokens instead of "
            f"{report.acceptance_length:.2f}. Estimate: {low:.2f} to {high:.2f} times plain decoding, now {now:.2f}.",
            LENGTH[report.engine].format(length, length + 1),
        )


def _acceptance(report: Report) -> Iterator[Advice]:
    rates, tau = report.per_position, report.acceptance_length or 1.0
    first = rates[0] if rates else tau - 1  # without rates the first is accepted at most that often
    if first < 0.3 and report.acceptance_length:
        yield Advice(
            "first-position-low",
            f"The first drafted token is accepted in {'' if rates else 'at most '}{first:.0%} of the steps. The usual "
            "reasons are the chat template, the tokenizer, or a draft of another target.",
        )
    tail = next((place for place in range(1, len(rates)) if sum(rates[place:]) <= 0.05 * tau), None)
    if tail is not None:
        yield Advice(
            "flat-tail",
            f"{tail} drafted tokens instead of {len(rates)} write {1 + sum(rates[:tail]):.2f} of the {tau:.2f} "
            "tokens of a step.",
            LENGTH[report.engine].format(tail, tail + 1),
        )
    if len(rates) > 1 and rates[-2] and rates[-1] / rates[-2] > rates[0] + 0.05:
        yield Advice(
            "rising",
            f"The first token is accepted in {rates[0]:.0%} of the steps, the last in {rates[-1] / rates[-2]:.0%} of "
            "those that reach it: only easy text does. Let the draft's confidence decide the length.",
            "--spec-draft-p-min 0.75" if report.engine == "llama.cpp" else None,
        )


def _load(report: Report) -> Iterator[Advice]:
    running, each, rate = report.running_requests, report.drafted_per_step, report.acceptance_rate
    if running and running >= 8 and each and each >= 3 and rate is not None and rate < 0.5:
        yield Advice(
            "trees-under-load",
            f"With {running:g} requests a pass verifies about {running * (each + 1):.0f} tokens, of which "
            f"{running * each * (1 - rate):.0f} are rejected. As the load grows, draft fewer, in a chain.",
            BY_LOAD.get(report.engine),
        )
    without = sum(one.graphs is False for one in report.windows)
    if without > 0.1 * len(report.windows):
        max_running = max(one.running or 1.0 for one in report.windows)
        graphs = {"vllm": "omit --enforce-eager", "sglang": f"--cuda-graph-max-bs {max_running:.0f}"}
        yield Advice(
            "cuda-graph-off",
            f"{without} of {len(report.windows)} {ITEM[report.engine]}s ran without CUDA graphs: every pass pays "
            "for its launches.",
            graphs.get(report.engine),
        )
