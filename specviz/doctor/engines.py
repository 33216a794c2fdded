"""Logs and metrics of engines: readers that yield a `Window` for each line, request, iteration or
scrape.

Sources: vllm v1/spec_decode/metrics.py and v1/metrics/loggers.py; llama.cpp
    tools/server/server-context.cpp; sglang
observability/scheduler_metrics_mixin.py; TensorRT-LLM executor/types.h (`SpecDecodingStats`,
`IterationStats`).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from .report import Window

INT, REAL = r" {0,20}(\d{1,12})", r" {0,20}(\d{1,12}(?:\.\d{1,9})?)"
RATES = re.compile(
    r"(?:Per-position acceptance rate: |rate per position = \(|acc rate/pos = \()"
    r"(\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})"
)
VLLM = {
    "throughput": rf"Avg generation throughput:{REAL} tokens/s",
    "prompts": rf"Avg prompt throughput:{REAL} tokens/s",
    "running_requests": rf"Running:{INT} reqs",
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
TOKEN_BY_TOKEN = {
    "draft",
    "draft-simple",
    "draft-eagle3",
    "draft-mtp",
}  # the others draft all of a step at once
SGLANG = {
    "running_requests": rf"#running-req:{INT}",
    "acceptance_length": rf"accept len:{REAL}",
    "throughput": rf"gen throughput \(token/s\):{REAL}",
}
TENSORRT = {
    "milliseconds": rf'"iterLatencyMS":{REAL}',
    "prompts": rf'"numContextRequests":{INT}',
    "running_requests": rf'"numGenRequests":{INT}',
    "drafted": rf'"numDraftTokens":{INT}',
    "accepted": rf'"numAcceptedTokens":{INT}',
    "steps": rf'"numRequestsWithDraftTokens":{INT}',
    "draft_share": rf'"draftOverhead":{REAL}',
}
ITERATION = r"\{[^{}]*+\}"
for _ in range(4):  # a JSON object of at most five levels
    ITERATION = rf"\{{(?:[^{{}}]++|{ITERATION})*+\}}"
# Prometheus metrics of any engine -> field; fields that end in "_at" are counters of positions.
METRICS = {
    "spec_decode_num_drafts_total": "steps",
    "spec_decode_num_draft_tokens_total": "drafted",
    "spec_decode_num_accepted_tokens_total": "accepted",
    "spec_decode_drafted_tokens_total": "drafted_at",
    "spec_decode_num_accepted_tokens_per_pos_total": "accepted_at",
    "spec_decode_accepted_tokens_total": "accepted_at",
    "tokens_predicted_total": "tokens",
    "tokens_predicted_seconds_total": "seconds",
    "gen_throughput": "throughput",
    "spec_accept_length": "acceptance_length",
    "spec_decode_acceptance_length": "acceptance_length",
    "spec_decode_draft_overhead": "draft_share",
    "num_requests_running": "running_requests",
    "num_running_reqs": "running_requests",
    "num_generation_requests": "running_requests",
}
PREFIXES = {
    "vllm:": "vllm",
    "llamacpp:": "llama.cpp",
    "sglang:": "sglang",
    "trtllm_": "tensorrt-llm",
}
VALUE = r"(\d{1,15}(?:\.\d{0,30})?(?:e[-+]?\d\d?)?)(?!\S)"
SERIES = re.compile(
    rf"(({'|'.join(PREFIXES)})({'|'.join(METRICS)})(?:\{{([^{{}}\n]{{0,2000}}+)\}})?) {VALUE}"
)
POSITION = re.compile(r'\b(?:token_)?position="(\d{1,3})"')
COUNTERS = {field for name, field in METRICS.items() if name.endswith("_total")}
MEANS = {"acceptance_length", "draft_share"}  # of workers; all else is added up


def read_vllm_log(text: str) -> Iterator[Window]:
    """A window for each line "Engine 000", with the line "SpecDecoding metrics" that follows it."""
    for record in _records(
        text, VLLM, ("Avg generation throughput:", "SpecDecoding metrics:"), begin=True
    ):
        if not (
            record.get("throughput") and record.get("running_requests")
        ):  # it was idle for a part of the time
            record = {
                name: record[name]
                for name in record.keys() - {"throughput", "running_requests", "prompts"}
            }
        if "accepted" in record and "drafted" in record:
            rates = record.get("per_position", ())
            length = sum(rates) or record.get("acceptance_length", 1.0) - 1
            record["steps"] = _steps(record["accepted"], length) or record["drafted"] / (
                len(rates) or 1
            )
        yield Window("vllm", "log", **record)


def read_llama_log(text: str) -> Iterator[Window]:
    """A window for each request, whose line "eval time" stands before or after "draft acceptance".

    Without a mean length a step is any pass after the first token, with a draft or without.
    "statistics" counts since the server was started, and gives the time of drafting.
    """
    totals: dict[str, dict[str, Any]] = {}
    for line in _lines_with(text, ("statistics ",)):
        if (record := _fields(LLAMA_TOTALS, line)).get("drafted"):
            totals[line.partition("statistics ")[2].partition(":")[0].strip()] = record
    drafting = sum(one.pop("milliseconds", 0.0) for one in totals.values()) / 1000
    drafted = sum(one["drafted"] for one in totals.values())
    for record in _records(text, LLAMA, ("eval time =", "draft acceptance")):
        seconds, tokens = record.pop("milliseconds", 0.0) / 1000, record.pop("tokens", 0.0)
        if timed := bool(seconds and tokens > 1):
            record |= {"throughput": tokens / seconds, "seconds": seconds}
        if record.get("drafted") and "accepted" in record:
            steps = _steps(record["accepted"], record.get("acceptance_length", 1.0) - 1)
            record["steps"] = steps or (
                max(1.0, tokens - 1 - record["accepted"]) if timed else None
            )
            if timed and drafting and totals.keys() <= TOKEN_BY_TOKEN:
                record["draft_share"] = min(1.0, drafting / drafted * record["drafted"] / seconds)
        yield Window("llama.cpp", "log", **record)
    yield from (Window("llama.cpp", "statistics", **record) for record in totals.values())


def _steps(accepted: float, length: float) -> float | None:
    """How many steps accepted so many tokens, `length` each on average, as a rounded number; None
    where none did."""
    return max(1.0, round(accepted / length)) if accepted and length > 0 else None


def read_sglang_log(text: str) -> Iterator[Window]:
    """A window for each line "Decode batch"; its length contains the bonus token."""
    for line in _lines_with(text, ("Decode batch",)):
        record = _fields(SGLANG, line)
        if (
            record.get("throughput")
            and record.get("running_requests")
            and record.get("acceptance_length") != 0
        ):
            yield Window("sglang", "log", **record)


def read_tensorrt_iterations(text: str) -> Iterator[Window]:
    """A window for each iteration that generates; one that also reads prompts gives no
    throughput."""
    for stats in (
        item for item in re.findall(ITERATION, text) if '"inflightBatchingStats"' in item
    ):
        record = _fields(TENSORRT, stats)
        seconds, prompts = record.pop("milliseconds", 0.0) / 1000, record.pop("prompts", 0.0)
        if not (record.get("drafted") and record.get("steps") and "accepted" in record):
            record = {"running_requests": record.get("running_requests", 0.0)}
        running = record["running_requests"] = record.get("running_requests") or record.get(
            "steps", 0.0
        )
        if seconds and not prompts:
            record |= {
                "throughput": (record.get("accepted", 0.0) + running) / seconds,
                "seconds": seconds,
            }
        yield Window("tensorrt-llm", "iterations", **record)


def read_metrics(text: str) -> Iterator[Window]:
    """A window for each engine of one scrape, or of the last of several minus the first."""
    scrapes: list[
        dict[tuple[str, str, int], list[float]]
    ] = []  # of all workers, by engine, field, position or -1
    seen: set[str] = set()
    for series, prefix, metric, labels, value in SERIES.findall(text):
        if not scrapes or series in seen:  # a series that comes again begins a scrape
            scrapes.append(defaultdict(list))
            seen = set()
        seen.add(series)
        place = POSITION.search(labels)
        scrapes[-1][PREFIXES[prefix], METRICS[metric], int(place[1]) if place else -1].append(
            float(value)
        )
    if not scrapes:
        return
    first, last = (
        {key: fmean(values) if key[1] in MEANS else sum(values) for key, values in scrape.items()}
        for scrape in (scrapes[0], scrapes[-1])
    )
    change = {key: value - first.get(key, 0.0) for key, value in last.items() if key[1] in COUNTERS}
    if (
        len(scrapes) > 1 and min(change.values(), default=0.0) >= 0
    ):  # else the server was started again between them
        last |= change
    for engine in PREFIXES.values():
        numbers = sorted(
            (place, field, value) for (one, field, place), value in last.items() if one == engine
        )
        record: dict[str, Any] = {
            field: value for _, field, value in numbers if field[-3:] != "_at" and value
        }
        accepted, drafted = (
            [value for _, field, value in numbers if field == name]
            for name in ("accepted_at", "drafted_at")
        )
        if drafted and drafted[0]:  # every step drafts its first token
            record |= {"steps": drafted[0], "drafted": sum(drafted), "accepted": sum(accepted)}
            record.pop("acceptance_length", None)
        if (tokens := record.pop("tokens", 0.0)) and "seconds" in record:
            record["throughput"] = tokens / record["seconds"]
        if accepted and "steps" in record:
            record["per_position"] = tuple(count / record["steps"] for count in accepted)
        yield Window(engine, "metrics", **record)


def _lines_with(text: str, marks: tuple[str, ...]) -> list[str]:
    return [line[:4000] for line in text.splitlines() if any(mark in line for mark in marks)]


def _fields(patterns: dict[str, str], text: str) -> dict[str, Any]:
    """The numbers in a text, by the names of the patterns that match, and the rates of positions,
    if any."""
    record = {
        name: float(match[1])
        for name, pattern in patterns.items()
        if (match := re.search(pattern, text))
    }
    rates = RATES.search(text)
    return record | ({"per_position": tuple(map(float, rates[1].split(", ")))} if rates else {})


def _records(
    text: str, patterns: dict[str, str], marks: tuple[str, ...], begin: bool = False
) -> list[dict[str, Any]]:
    """The numbers of lines with one of some marks; neighbours that say different things are taken
    together.

    With `begin` a line with the first mark begins a record.
    """
    records: list[dict[str, Any]] = []
    for line in _lines_with(text, marks):
        record = _fields(patterns, line)
        if not records or (begin and marks[0] in line) or records[-1].keys() & record.keys():
            records.append({})
        records[-1] |= record
    return records
