"""Logs of engines: a reader for each, which yields a `Window` for each line, request or iteration.

Sources: vllm v1/spec_decode/metrics.py and v1/metrics/loggers.py; llama.cpp tools/server/server-context.cpp; sglang
observability/scheduler_metrics_mixin.py; TensorRT-LLM executor/types.h (`SpecDecodingStats`, `IterationStats`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .window import Window, fields, lines_with, number, objects_with

INT, REAL = r" {0,20}(\d{1,12})", r" {0,20}(\d{1,12}(?:\.\d{1,9})?)"
RATES = re.compile(
    r"(?:Per-position acceptance rate: |rate per position = \(|acc rate/pos = \()"
    r"(\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})"
)
VLLM = {
    "throughput": rf"Avg generation throughput:{REAL} tokens/s",
    "prompts": rf"Avg prompt throughput:{REAL} tokens/s",
    "running": rf"Running:{INT} reqs",
    "accepted": rf"Accepted:{INT} tokens",
    "drafted": rf"Drafted:{INT} tokens",
    "acceptance_length": rf"Mean acceptance length:{REAL}",
}
LLAMA = {
    "milliseconds": rf"(?<!prompt )eval time ={REAL} ms /",
    "tokens": rf"(?<!prompt )eval time = {{0,20}}[\d.]{{1,20}} ms /{INT} (?:tokens|runs)",
    "accepted": rf"draft acceptance[^(]{{1,40}}\({INT} accepted",
    "drafted": rf"accepted /{INT} generated",
    "acceptance_length": rf"mean (?:acceptance length|len) ={REAL}",
}
LLAMA_TOTALS = {
    "steps": rf"#gen drafts ={INT}",
    "drafted": rf"#gen tokens ={INT}",
    "accepted": rf"#acc tokens ={INT}",
    "milliseconds": rf"dur\(b,g,a\) = \d{{1,12}}(?:\.\d{{1,9}})?,{REAL},",
}
TOKEN_BY_TOKEN = {"draft", "draft-simple", "draft-eagle3", "draft-mtp"}  # the others draft all of a step at once
SGLANG = {
    "running": rf"#running-req:{INT}",
    "acceptance_length": rf"accept len:{REAL}",
    "throughput": rf"gen throughput \(token/s\):{REAL}",
}


def read_vllm_log(text: str) -> Iterator[Window]:
    """A window for each line "Engine 000", with the line "SpecDecoding metrics" that follows it."""
    graphs = False if "enforce_eager=True" in text else None
    engine: Window | None = None
    for line in lines_with(text, "Avg generation throughput:", "SpecDecoding metrics:"):
        record = fields(VLLM, line)
        if "SpecDecoding metrics:" in line:
            yield replace(engine or Window("vllm", "log", graphs=graphs), **_vllm_counts(record, _rates(line)))
            engine = None
            continue
        if engine:
            yield engine
        engine = None
        if record.get("throughput") and record.get("running"):  # without requests it was idle for a part of the time
            engine = Window("vllm", "log", graphs=graphs, **record | {"prompts": bool(record.get("prompts"))})
    if engine:
        yield engine


def _vllm_counts(record: dict[str, Any], rates: tuple[float, ...]) -> dict[str, Any]:
    """The counts of a line; the steps are exact if all drafted as many tokens, else from the rounded means."""
    accepted, drafted, mean = (record.get(name) for name in ("accepted", "drafted", "acceptance_length"))
    if accepted is None or drafted is None:
        return {"acceptance_length": mean, "per_position": rates}
    steps, length = drafted / len(rates) if rates else 0.0, sum(rates) or (mean or 1.0) - 1
    if not (steps and steps == int(steps) and mean and abs(1 + accepted / steps - mean) < 0.0051):
        steps = max(1, round(accepted / length)) if accepted and length > 0 else 0.0
    return {"steps": float(steps) or None, "drafted": drafted, "accepted": accepted, "per_position": rates}


def read_llama_log(text: str) -> Iterator[Window]:
    """A window for each request, whose line "eval time" stands before or after "draft acceptance".

    "statistics" counts since the server was started. It gives the time of drafting, and the counts where requests have
    none.
    """
    requests: list[dict[str, Any]] = []
    totals: dict[str, dict[str, Any]] = {}
    for line in lines_with(text, "eval time =", "draft acceptance", "statistics "):
        if "statistics " in line:
            if (record := fields(LLAMA_TOTALS, line)).get("drafted"):
                totals[line.partition("statistics ")[2].partition(":")[0].strip()] = record | {"rates": _rates(line)}
        elif record := fields(LLAMA, line):
            if not requests or requests[-1].keys() & record.keys():
                requests.append({"rates": ()})
            requests[-1] |= record | ({"rates": _rates(line)} if "accepted" in record else {})
    steps, drafted, accepted, milliseconds = (
        sum(one.get(name, 0.0) for one in totals.values()) for name in LLAMA_TOTALS
    )
    windows = [_llama_request(record, steps / drafted if drafted else 0.0) for record in requests]
    if steps and not any(window.speculates for window in windows):
        rates = next(iter(totals.values()))["rates"] if len(totals) == 1 else ()
        windows.append(Window("llama.cpp", "log", steps, drafted, accepted, per_position=rates))
    for window in windows:
        if milliseconds and totals.keys() <= TOKEN_BY_TOKEN and window.drafted and window.seconds:
            share = milliseconds / 1000 / drafted * window.drafted / window.seconds
            window = replace(window, draft_share=min(1.0, share))
        if window.throughput or window.speculates:
            yield window


def _llama_request(record: dict[str, Any], drafts_per_token: float) -> Window:
    """One request; without a mean length a step is any pass after the first token, with a draft or without."""
    seconds, tokens, mean = record.get("milliseconds", 0.0) / 1000, record.get("tokens", 0.0), "acceptance_length"
    timed = {"throughput": tokens / seconds, "seconds": seconds} if seconds and tokens > 1 else {}
    drafted, accepted = record.get("drafted"), record.get("accepted")
    if not drafted or accepted is None:
        return Window("llama.cpp", "log", **timed)
    steps = tokens - 1 - accepted if timed else round(drafted * drafts_per_token)
    if accepted and record.get(mean, 0.0) > 1:
        steps = round(accepted / (record[mean] - 1))
    counts = {"drafted": drafted, "accepted": accepted, "per_position": record.get("rates", ())}
    return Window("llama.cpp", "log", float(max(1, steps)) if steps or timed else None, **counts, **timed)


def read_sglang_log(text: str) -> Iterator[Window]:
    """A window for each line "Decode batch"; its length contains the bonus token."""
    for line in lines_with(text, "Decode batch"):
        record = fields(SGLANG, line)
        if record.get("throughput") and record.get("running") and record.get("acceptance_length") != 0:
            yield Window("sglang", "log", graphs=" graph: True" in line if " graph: " in line else None, **record)


def read_tensorrt_iterations(text: str) -> Iterator[Window]:
    """A window for each iteration that generates; one that also reads prompts gives no throughput."""
    for stats in objects_with(text, "inflightBatchingStats"):
        batch, draft = (stats.get(name) for name in ("inflightBatchingStats", "specDecodingStats"))
        batch, draft = batch if isinstance(batch, dict) else {}, draft if isinstance(draft, dict) else {}
        drafted, accepted, steps, share = (
            number(draft.get(name))
            for name in ("numDraftTokens", "numAcceptedTokens", "numRequestsWithDraftTokens", "draftOverhead")
        )
        running = number(batch.get("numGenRequests")) or steps or 0.0
        seconds = (number(stats.get("iterLatencyMS")) or 0.0) / 1000
        timed = bool(seconds and not number(batch.get("numContextRequests")))
        counts: dict[str, Any] = {}
        if drafted and accepted is not None and steps:
            counts = {"steps": steps, "drafted": drafted, "accepted": accepted}
            counts["draft_share"] = share and min(1.0, share)
        if running and (timed or counts):
            speed = {"throughput": (counts.get("accepted", 0.0) + running) / seconds, "seconds": seconds}
            yield Window("tensorrt-llm", "iterations", running=running, **counts, **(speed if timed else {}))


def _rates(line: str) -> tuple[float, ...]:
    match = RATES.search(line)
    return tuple(map(float, match[1].split(", "))) if match else ()
