"""What follows from the numbers, as sentences: each with a code, the reason with its numbers, and the engine's own "
"flag."""

from __future__ import annotations

from collections.abc import Iterator

from .algebra import Advice, Cut, Report, one_longer

LOW, TAIL, BUSY, WORTH = 0.3, 0.05, 8, 1.02  # first position, share of a tail, requests, and a gain that is worth a try
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
GRAPHS = {"vllm": "--enforce-eager", "sglang": "--cuda-graph-max-bs", "tensorrt-llm": "cuda_graph_config"}
UNSEEN = (
    "The text has lines of this engine, but none of them says that tokens were drafted. Speculation may be off, or no "
    "request was decoded while this was written."
)
STOP_EARLY = {"llama.cpp": "--spec-draft-p-min 0.75"}


def advise(report: Report) -> tuple[Advice, ...]:
    """Everything that the numbers of an engine say; the verdict comes first."""
    if not report.seen:
        return (Advice("no-speculation-seen", UNSEEN),)
    return (*_verdict(report), *_length(report), *_positions(report), *_load(report))


def _verdict(report: Report) -> Iterator[Advice]:
    tau, throughput, baseline = report.acceptance_length, report.throughput, report.baseline
    price = report.step_price
    if throughput is None:
        yield Advice(
            "needs-baseline",
            "The text gives no throughput, so it cannot say whether speculation pays. Add the engine's log of the same "
            "time, and the tokens per second of plain decoding with as many requests.",
        )
        return
    writes = f"a step writes {tau:.2f} tokens" if tau else "how much a step writes is not known"
    if baseline is None:
        load = (
            f" with {report.running_requests:g} request{'s' * (report.running_requests != 1)}"
            if report.running_requests
            else ""
        )
        yield Advice(
            "needs-baseline",
            f"{writes.capitalize()}, and the engine {throughput:.1f} tokens/s{load}. A log with speculation cannot "
            "say whether that is faster than plain decoding: measure the tokens/s without it under the same load. It "
            f"pays if that is less than {throughput:.1f}.",
        )
        return
    better = sum(one > baseline for one in report.throughputs)
    several = f", faster in {better} of {len(report.throughputs)} windows" if len(report.throughputs) > 1 else ""
    said = (
        f"{throughput:.1f} tokens/s are {throughput / baseline:.2f} times the {baseline:.1f} of plain decoding"
        f"{several}. On average {writes}{f' and takes the time of {price:.2f} plain steps' if price else ''}"
    )
    if throughput > baseline:
        other = " No step takes less than a plain one, so the baseline may be of another load."
        yield Advice("pays", f"{said}.{other if price and price < 0.98 else ''}")
    else:
        yield Advice("overhead", f"It does not pay: {said}{_why(report, price) if price else '.'}")


def _why(report: Report, price: float) -> str:
    """The end of the sentence on a step that costs more than it writes."""
    tau, passes = report.acceptance_length or 1.0, 1 + 2 * (report.drafted_per_step or price)
    why = f": the step costs more than {tau:.2f} tokens save, so acceptance is not the problem."
    if tau < 1.5:
        why = ": too few tokens are accepted for that cost."
    if report.draft_share:
        why += f" Drafting is {100 * report.draft_share:.0f} % of it."
    if price > passes:
        why += (
            f" Even if each token took a plain step to draft and another to verify, that would be {passes:.2f}: the "
            "rest is outside the models, such as missing CUDA graphs, sampling or the scheduler."
        )
    return why


def _length(report: Report) -> Iterator[Advice]:
    """A shorter or a longer draft, where the band of its speedup reaches beyond plain decoding and beyond today's."""
    cuts = report.lengths
    if not report.step_price or not cuts or not report.per_position or report.per_position[0] < LOW:
        return
    now, best = cuts[-1], max(cuts, key=lambda one: one.middle)
    longer = one_longer(report)
    if best is not now and best.middle > WORTH * now.middle and (best.speedup_high or 0) > 1:
        yield Advice(
            "shorten",
            f"Draft {best.length} tokens instead of {now.length}: a step then writes {best.acceptance_length:.2f} "
            f"tokens instead of {now.acceptance_length:.2f}, and is expected to reach {_band(best)} times plain "
            f"decoding, now {now.middle:.2f}.",
            flag_of_length(report.engine, best.length),
        )
    elif best is now and longer and longer.middle > WORTH * now.middle and (longer.speedup_high or 0) > 1:
        yield Advice(
            "lengthen",
            f"Of the steps that accept all before it, {100 * _last(report):.0f} % accept position {now.length} as "
            f"well. If the next one is accepted as often, {longer.length} tokens reach {_band(longer)} times plain "
            f"decoding, now {now.middle:.2f}.",
            flag_of_length(report.engine, longer.length),
        )


def _positions(report: Report) -> Iterator[Advice]:
    """What the rates of the positions say, with or without a baseline."""
    rates, tau = report.per_position, report.acceptance_length or 1.0
    first = rates[0] if rates else tau - 1  # without rates the first is accepted at most that often
    if first < LOW and report.acceptance_length:
        yield Advice(
            "first-position-low",
            f"The first drafted token is accepted in {'' if rates else 'at most '}{100 * first:.0f} % of the steps. "
            f"Below {100 * LOW:.0f} % the usual reasons are the chat template, the tokenizer, or a draft of another "
            "target.",
        )
    tail = next((place for place in range(1, len(rates)) if sum(rates[place:]) <= TAIL * tau), None)
    if tail is not None:
        last = len(rates)
        where = f"Position {last} adds" if tail + 1 == last else f"Positions {tail + 1} to {last} together add"
        yield Advice(
            "flat-tail",
            f"{where} {sum(rates[tail:]):.2f} of the {tau:.2f} tokens of a step, and {last - tail} of the {last} "
            "drafted tokens are for that.",
            flag_of_length(report.engine, tail),
        )
    if len(rates) > 1 and rates[0] and _last(report) > rates[0] + 0.05:
        yield Advice(
            "rising",
            f"The first token is accepted in {100 * rates[0]:.0f} % of the steps, the last in "
            f"{100 * _last(report):.0f} % of those that reach it. The draft does not improve: only easy passages reach "
            "the later positions. A length that follows the draft's confidence suits such a text.",
            STOP_EARLY.get(report.engine),
        )


def _load(report: Report) -> Iterator[Advice]:
    """What the number of requests and the engine's settings say."""
    running, each, rate = report.running_requests, report.drafted_per_step, report.acceptance_rate
    if running and each and rate is not None and running >= BUSY and each >= 3 and rate < 0.5:
        yield Advice(
            "trees-under-load",
            f"With {running:g} requests a pass verifies about {running * (each + 1):.0f} tokens, of which "
            f"{running * each * (1 - rate):.0f} drafted ones are rejected. Drafted tokens cost more "
            "under load: as it grows, draft fewer, and a chain rather than a tree.",
            BY_LOAD.get(report.engine),
        )
    if report.without_graphs > 0.1 * len(report.seen):
        yield Advice(
            "cuda-graph-off",
            f"{report.without_graphs} of {len(report.seen)} windows ran without CUDA graphs, so that every pass "
            "pays for its launches, those of the draft most of all. Allow graphs of this batch size.",
            GRAPHS.get(report.engine),
        )
    if len(report.lengths_seen) > 1:
        lengths = ", ".join(map(str, report.lengths_seen[:8]))
        yield Advice(
            "mixed-length-schedule",
            f"Steps drafted {lengths} tokens at different times, so the means are over several lengths.",
            BY_LOAD.get(report.engine) if report.engine != "sglang" else None,
        )


def flag_of_length(engine: str, length: int) -> str | None:
    """The setting of the draft length; None for 0 tokens, which is no speculation."""
    return LENGTH[engine].format(length, length + 1) if engine in LENGTH and length > 0 else None


def _last(report: Report) -> float:
    """How often the last position is accepted where the one before it was."""
    rates = report.per_position
    return rates[-1] / (rates[-2] or 1.0) if len(rates) > 1 else rates[-1]


def _band(cut: Cut) -> str:
    low, high = f"{cut.speedup_low:.2f}", f"{cut.speedup_high:.2f}"
    return low if low == high else f"{low} to {high}"
