"""Readers of what engines answer or store as JSON, or print as Python: one `Window` an object.

Any text may stand before and after an object. Formats of vLLM (responses with acceptance metrics,
results of `bench serve`), SGLang (`meta_info`, `/server_info`), llama.cpp (`timings`, mlx-vlm's
too), TensorRT-LLM (statistics of iterations), AIPerf, ModelOpt's specdec_bench and the acceptance
profiles that it writes.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from ..record.chain_rates import read_profile_rates
from .log_lines import drafted_per_step
from .window import NAMES, Window, histogram, number, of_histogram, rates_of

LONGEST_OBJECT = 1_000_000  # characters of an object that Python printed
BRACKETS = re.compile(r"'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\"|[\[\](){}]")


def read_json(text: str) -> Iterator[Window]:
    """A window for each object of a known form, wherever it stands.

    Of several objects with one id, the parts of a streamed answer, the last one counts.
    """
    answers: dict[Any, list[Window]] = {}
    for place, value in enumerate(objects_in(text)):
        windows = list(_windows(value, 0))
        answer = value.get("id") if isinstance(value, dict) else None
        if windows:
            answers[answer if isinstance(answer, str) else place] = windows
    for windows in answers.values():
        yield from windows


def objects_in(text: str) -> Iterator[Any]:
    """The JSON objects and lists in a text, of each line the first; then those that Python
    printed."""
    decoder = json.JSONDecoder()
    end = 0
    for line in re.finditer(r"[^\n]+", text):
        starts = (line[0].find("{"), line[0].find("["))
        for start in sorted(line.start() + start for start in starts if start >= 0):
            if start < end:
                continue
            try:
                value, end = decoder.raw_decode(text, start)
            except (ValueError, RecursionError):
                value, end = _printed_by_python(text, start, end)
            if value:
                yield value


def _printed_by_python(text: str, start: int, end: int) -> tuple[Any, int]:
    """What Python printed at `start`, and where it ends; None and `end` where it is none."""
    if not re.match(r"\[?\{\s*'", text[start : start + 40]):
        return None, end
    depth = 0
    for bracket in BRACKETS.finditer(text, start, start + LONGEST_OBJECT):
        depth += {"[": 1, "{": 1, "(": 1, "]": -1, "}": -1, ")": -1}.get(bracket[0], 0)
        if depth == 0:
            try:
                return ast.literal_eval(text[start : bracket.end()]), bracket.end()
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                return None, end
    return None, end


def _windows(value: Any, depth: int) -> Iterator[Window]:
    if depth > 20:
        return
    if isinstance(value, list):
        for item in value:
            yield from _windows(item, depth + 1)
    if not isinstance(value, dict):
        return
    for key, reader in READERS.items():
        if key in value:
            window = reader(value)
            if window:
                yield window
            return
    for item in value.values():
        yield from _windows(item, depth + 1)


def _child(record: dict[str, Any], name: str) -> dict[str, Any]:
    child = record.get(name)
    return child if isinstance(child, dict) else {}


def tensorrt_iteration(record: dict[str, Any]) -> Window | None:
    """An iteration; one that also reads prompts gives no throughput."""
    drafts, batch = _child(record, "specDecodingStats"), _child(record, "inflightBatchingStats")
    drafted, accepted = number(drafts, "numDraftTokens"), number(drafts, "numAcceptedTokens")
    steps = number(drafts, "numRequestsWithDraftTokens")
    running = number(batch, "numGenRequests") or steps
    milliseconds, prompts = number(record, "iterLatencyMS"), number(batch, "numContextRequests")
    speculates = drafted and steps and accepted is not None
    throughput = None
    if milliseconds and running and not prompts:
        written = running + (accepted or 0.0 if speculates else 0.0)
        throughput = 1000 * written / milliseconds
    return Window(
        "tensorrt-llm",
        "iterations",
        steps=steps if speculates else None,
        drafted=drafted if speculates else None,
        accepted=accepted if speculates else None,
        running_requests=running,
        throughput=throughput,
        seconds=milliseconds / 1000 if throughput and milliseconds else None,
        draft_share=number(drafts, "draftOverhead") if speculates else None,
    )


def vllm_response(record: dict[str, Any]) -> Window | None:
    """The acceptance of one request: a response of vLLM, or a record of AIPerf."""
    found = _child(record, "speculative_decoding") or _child(record, "spec_decode_acceptance")
    counts = of_histogram(histogram(found.get("acceptance_histogram")))
    steps = number(found, "num_spec_steps") or counts.get("steps")
    accepted = number(found, "num_accepted_draft_tokens")
    if accepted is None:
        accepted = counts.get("accepted")
    drafted, rate = number(found, "num_draft_tokens"), number(found, "draft_acceptance_rate")
    if drafted is None and accepted and rate:
        drafted = float(round(accepted / rate))
    length = number(found, "mean_acceptance_length")
    if steps is None and length is None:
        return None
    engine = found.get("engine")
    return Window(
        engine if isinstance(engine, str) and engine in NAMES else "vllm",
        "responses",
        steps=steps,
        drafted=drafted,
        accepted=accepted,
        acceptance_length=length,
        per_position=counts.get("per_position", ()),
    )


def sglang_response(record: dict[str, Any]) -> Window | None:
    """The `meta_info` of one request; its time includes reading the prompt."""
    info = _child(record, "meta_info")
    tokens, seconds = number(info, "completion_tokens"), number(info, "e2e_latency")
    counts = of_histogram(
        histogram(info.get("spec_correct_drafts_histogram") or info.get("spec_accept_histogram"))
    )
    steps = number(info, "spec_verify_ct")
    length = number(info, "spec_accept_length")
    if length is None and steps and tokens:
        length = tokens / steps
    accepted = number(info, "spec_num_correct_drafts", "spec_accept_token_num")
    if accepted is None and steps and length:
        accepted = steps * (length - 1)
    timed = tokens and seconds
    return Window(
        "sglang",
        "responses",
        steps=steps or None,
        drafted=number(info, "spec_num_proposed_drafts", "spec_draft_token_num"),
        accepted=accepted if steps else None,
        acceptance_length=length if steps or length else None,
        per_position=counts.get("per_position", ()),
        running_requests=1.0 if timed else None,
        throughput=tokens / seconds if tokens and seconds else None,
        seconds=seconds if timed else None,
        prompts=1.0 if timed else None,
    )


def sglang_server(record: dict[str, Any]) -> Window | None:
    """A state of `/server_info`."""
    length, rate = number(record, "avg_spec_accept_length"), number(record, "avg_spec_accept_rate")
    return Window(
        "sglang",
        "server info",
        acceptance_length=length or None,
        draft_length=drafted_per_step([(length or 0.0, rate or 0.0)]),
        throughput=number(record, "last_gen_throughput") or None,
    )


def llama_response(record: dict[str, Any]) -> Window | None:
    """The `timings` of one request; a step is any pass after the first token."""
    timings = _child(record, "timings")
    tokens, milliseconds = number(timings, "predicted_n"), number(timings, "predicted_ms")
    drafted, accepted = number(timings, "draft_n"), number(timings, "draft_n_accepted")
    if not tokens or not milliseconds:
        return None
    steps = None
    if drafted and accepted is not None:
        steps = max(1.0, tokens - 1 - accepted)
    return Window(
        "llama.cpp",
        "responses",
        steps=steps,
        drafted=drafted or None,
        accepted=accepted if drafted else None,
        throughput=1000 * tokens / milliseconds,
        seconds=milliseconds / 1000,
    )


def benchmark_result(record: dict[str, Any]) -> Window | None:
    """What `vllm bench serve --save-result` or SGLang's `bench_serving` stores."""
    length = number(record, "spec_decode_acceptance_length")
    vllm = length is not None or "accept_length" not in record
    rates = rates_of(record.get("spec_decode_per_position_acceptance_rates"))
    return Window(
        "vllm" if vllm else "sglang",
        "benchmark",
        steps=number(record, "spec_decode_num_drafts"),
        drafted=number(record, "spec_decode_draft_tokens"),
        accepted=number(record, "spec_decode_accepted_tokens"),
        acceptance_length=length or number(record, "accept_length"),
        per_position=rates,
        running_requests=number(record, "max_concurrency"),
        throughput=number(record, "output_throughput"),
        seconds=number(record, "duration"),
        prompts=1.0,
    )


def specdec_bench(record: dict[str, Any]) -> Window | None:
    """The acceptance of ModelOpt's specdec_bench, whose lengths contain the bonus token."""
    counts = of_histogram(histogram(record["Acceptance_Length_Histogram"]), bonus=1)
    if not counts:
        return None
    length = 1 + counts["accepted"] / counts["steps"]
    return Window("profile", "specdec_bench", acceptance_length=length, **counts)


def profile(record: dict[str, Any]) -> Window | None:
    """An acceptance profile; one that was not measured says nothing."""
    try:
        rates = read_profile_rates(record)
    except ValueError:
        return None
    length = number(record, "mean_accept_length")
    if record.get("measured") is False or (rates is None and length is None):
        return None
    marginal = rates.marginal if rates else ()
    return Window(
        "profile",
        "profile",
        acceptance_length=1 + sum(marginal) if length is None else length,
        draft_length=number(record, "num_speculative_tokens"),
        per_position=marginal,
    )


# a key of an object -> what reads the object; the first key that it has decides
READERS: dict[str, Callable[[dict[str, Any]], Window | None]] = {
    "inflightBatchingStats": tensorrt_iteration,
    "specDecodingStats": tensorrt_iteration,
    "speculative_decoding": vllm_response,
    "spec_decode_acceptance": vllm_response,
    "meta_info": sglang_response,
    "avg_spec_accept_length": sglang_server,
    "last_gen_throughput": sglang_server,
    "timings": llama_response,
    "conditional_accept_rates": profile,
    "marginal_accept_rates": profile,
    "Acceptance_Length_Histogram": specdec_bench,
    "output_throughput": benchmark_result,
}
