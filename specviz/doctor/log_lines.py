"""Readers of what engines print: one `Window` for each line, request or benchmark.

Formats of vLLM (v1/spec_decode/metrics.py, v1/metrics/loggers.py, benchmarks/serve.py; the engine
V0 until 0.9), llama.cpp (tools/server, examples/speculative), SGLang (scheduler metrics,
bench_serving).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from .window import Window, add_ranks, rates_of, steps_of

INT = r" {0,40}(\d{1,12})"
REAL = r" {0,40}(\d{1,12}(?:\.\d{1,9})?)"
LONGEST_LINE = 4000
RATES = re.compile(
    r"(?:Per-position acceptance rate: |rate per position = \(|acc rate/pos = \()"
    r"(\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})"
)
V0 = "V0 log"
MOST_DRAFTED, ROUNDED = 65, 0.006
SAME_INTERVAL = 5  # seconds; engines of one server print every ten
VLLM = {
    "rank": rf"Engine{INT}:",
    "throughput": rf"Avg generation throughput:{REAL} tokens/s",
    "prompts": rf"Avg prompt throughput:{REAL} tokens/s",
    "running_requests": rf"Running:{INT} reqs",
    "accepted": rf"Accepted:{INT} tokens",
    "drafted": rf"Drafted:{INT} tokens",
    "acceptance_length": rf"Mean acceptance length:{REAL}",
}
VLLM_V0 = {
    "tokens": rf"Number of speculative tokens:{INT}",
    "accepted": rf"Number of accepted tokens:{INT}",
    "drafted": rf"Number of draft tokens:{INT}",
    "emitted": rf"Number of emitted tokens:{INT}",
}
BENCHMARK = {
    "running_requests": rf"Maximum request concurrency:{INT}|Concurrency:{REAL}",
    "seconds": rf"Benchmark duration \(s\):{REAL}",
    "throughput": rf"Output token throughput \(tok/s\):{REAL}",
    "acceptance_length": rf"Accept(?:ance)? length:{REAL}",
    "steps": rf"Drafts:{INT}",
    "drafted": rf"Draft tokens:{INT}",
    "accepted": rf"Accepted tokens:{INT}",
}
OFFLINE = {
    "steps": rf"^num_drafts:{INT}",
    "drafted": rf"^num_draft_tokens:{INT}",
    "accepted": rf"^num_accepted_tokens:{INT}",
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
    "milliseconds": rf"dur\(b,g,a\) = [\d.]{{1,20}},{REAL},",
}
LLAMA_TOOL = {
    "tokens": rf"^n_predict +={INT}",
    "drafted": rf"^n_drafted +={INT}",
    "accepted": rf"^n_accept +={INT}",
    "throughput": rf"^decoded {INT} tokens in {REAL} seconds, speed:{REAL} t/s",
}
# The drafters that take time for each token; the others draft all of a step at once.
TOKEN_BY_TOKEN = {"draft", "draft-simple", "draft-eagle3", "draft-mtp"}
SGLANG = {
    "rank": r"\bDP(\d{1,4})\b",
    "running_requests": rf"#running-req:{INT}",
    "acceptance_length": rf"accept len:{REAL}",
    "rate": rf"accept rate:{REAL}",
    "throughput": rf"gen throughput \(token/s\):{REAL}",
}


def read_vllm_log(text: str) -> Iterator[Window]:
    """A window for each line "Engine 000" with the line "SpecDecoding metrics" that follows it.

    Ranks of a data-parallel server print in turn; what they print at one time is added up.
    """
    marks = ("Avg generation throughput:", "SpecDecoding metrics:")
    lines = [line for line in _lines_with(text, marks) if "Pending:" not in line]
    yield from _intervals(_records(lines, VLLM, marks[0]), _vllm_window)


def _intervals(
    records: Iterable[dict[str, Any]], window_of: Callable[..., Window]
) -> Iterator[Window]:
    """A window for each time at which ranks print in turn: it ends where one comes again."""
    ranks: dict[float, Window] = {}
    began = None
    for record in records:
        rank, time = record.pop("rank", -1.0), record.pop("time", None)
        late = began is not None and time is not None and abs(time - began) > SAME_INTERVAL
        if ranks and (rank < 0 or rank in ranks or late):
            yield add_ranks(list(ranks.values()))
            ranks = {}
        if not ranks:
            began = time
        ranks[rank] = window_of(**record)
    if ranks:
        yield add_ranks(list(ranks.values()))


def _vllm_window(**record: Any) -> Window:
    if not (record.get("throughput") and record.get("running_requests")):
        # The engine was idle for a part of the time.
        for name in ("throughput", "running_requests", "prompts"):
            record.pop(name, None)
    rates = record.get("per_position", ())
    if "accepted" in record and "drafted" in record:
        length = sum(rates) or record.get("acceptance_length", 1.0) - 1
        record["steps"] = steps_of(record["accepted"], length)
        if record["steps"] is None and rates:
            record["steps"] = record["drafted"] / len(rates)
    return Window("vllm", "log", **record)


def read_vllm_v0_log(text: str) -> Iterator[Window]:
    """The last line "Speculative metrics" of the engine V0, which counts since the start.

    Its accepted tokens include those behind a rejected one; its emitted tokens do not.
    """
    counted: dict[str, Any] = {}
    for line in _lines_with(text, ("Speculative metrics:",)):
        record = _fields(VLLM_V0, line)
        if record.get("tokens") and record.get("drafted") and "emitted" in record:
            steps = max(1.0, record["drafted"] // record["tokens"])
            counted = {
                "steps": steps,
                "drafted": record["drafted"],
                "accepted": record.get("accepted"),
                "acceptance_length": record["emitted"] / steps,
            }
    length = counted.get("acceptance_length")
    for line in _lines_with(text, ("Pending:",)):
        record = _fields(VLLM, line)
        if record.get("throughput") and record.get("running_requests"):
            fields: dict[str, Any] = {
                name: record[name] for name in ("throughput", "running_requests")
            }
            yield Window("vllm", V0, acceptance_length=length, **fields)
    if counted:
        yield Window("vllm", V0, **counted)


def read_benchmark(text: str) -> Iterator[Window]:
    """A window for each result of `vllm bench serve` or SGLang's `bench_serving`."""
    for part in text.split("= Serving Benchmark Result =")[1:]:
        part = part.partition("\n=====")[0][:20_000]
        record = _fields(BENCHMARK, part)
        rates = re.findall(rf"^ {{1,8}}Position \d{{1,3}}:{REAL}", part, re.M)
        record["per_position"] = rates_of([float(rate) for rate in rates], percent=True)
        # Nothing else of the two outputs differs for certain.
        sglang = re.search(r"Accept length:", part) or re.search(r"Backend: +sglang", part)
        yield Window("sglang" if sglang else "vllm", "benchmark", prompts=1.0, **record)


def read_offline_example(text: str) -> Iterator[Window]:
    """What vLLM's example of offline speculative decoding prints at its end."""
    lines = _lines_with(text, ("num_drafts:", "num_draft_tokens:", "num_accepted_tokens:"))
    record = _fields(OFFLINE, "\n".join(lines))
    if len(record) == len(OFFLINE):
        rates = re.findall(rf"^acceptance at token \d{{1,3}}:{REAL}", text, re.M)
        record["per_position"] = rates_of([float(rate) for rate in rates])
        yield Window("vllm", "example", **record)


def read_llama_log(text: str) -> Iterator[Window]:
    """A window for each request, whose line "eval time" stands before or after "draft acceptance".

    Without a mean length a step is any pass after the first token, with a draft or without.
    "statistics" counts since the server was started; it gives the time of drafting, and the rates
    by position where the lines of requests have none.
    """
    totals: dict[str, dict[str, Any]] = {}
    for line in _lines_with(text, ("statistics ",)):
        record = _fields(LLAMA_TOTALS, line)
        if record.get("drafted"):
            totals[line.partition("statistics ")[2].partition(":")[0].strip()] = record
    drafting = sum(record.pop("milliseconds", 0.0) for record in totals.values()) / 1000
    drafted = sum(record["drafted"] for record in totals.values())
    marks = ("eval time =", "draft acceptance")
    lines = [line for line in _lines_with(text, marks) if "llama_perf" not in line]
    for record in _records(lines, LLAMA):
        seconds, tokens = record.pop("milliseconds", 0.0) / 1000, record.pop("tokens", 0.0)
        timed = bool(seconds and tokens > 1)
        if timed:
            record |= {"throughput": tokens / seconds, "seconds": seconds}
        if record.get("drafted") and "accepted" in record:
            length = record.get("acceptance_length", 1.0) - 1
            record["steps"] = steps_of(record["accepted"], length)
            if record["steps"] is None and timed:
                record["steps"] = max(1.0, tokens - 1 - record["accepted"])
            if timed and drafting and totals.keys() <= TOKEN_BY_TOKEN:
                record["draft_share"] = min(1.0, drafting / drafted * record["drafted"] / seconds)
            if len(totals) == 1:
                (total,) = totals.values()
                record.setdefault("per_position", total.get("per_position", ()))
        yield Window("llama.cpp", "log", **record)
    for record in totals.values():
        yield Window("llama.cpp", "statistics", **record)


def read_llama_tool(text: str) -> Iterator[Window]:
    """What `llama-speculative` prints at the end of its text; every step writes a token of its
    own beside the accepted ones."""
    for part in re.split(
        r"^(?=decoded {1,20}\d)", text[: text.rfind("n_accept") + 200], flags=re.M
    ):
        record = _fields(LLAMA_TOOL, part[:LONGEST_LINE])
        if len(record) == len(LLAMA_TOOL):
            record["steps"] = max(1.0, record.pop("tokens") - record["accepted"])
            yield Window("llama.cpp", "tool", **record)


def read_sglang_log(text: str) -> Iterator[Window]:
    """A window for each line "Decode batch"; its length contains the bonus token.

    Data-parallel ranks print in turn; what they print at one time is added up.
    """
    records = []
    for line in _lines_with(text, ("Decode batch",)):
        record = _fields(SGLANG, line)
        running = record.get("throughput") and record.get("running_requests")
        if running and record.get("acceptance_length") != 0:
            records.append(record)
    drafted = drafted_per_step(
        [(record.get("acceptance_length", 0.0), record.pop("rate", 0.0)) for record in records]
    )
    yield from _intervals(records, partial(Window, "sglang", "log", draft_length=drafted))


def drafted_per_step(pairs: Sequence[tuple[float, float]]) -> float | None:
    """Drafted tokens of a step, from SGLang's lengths and rates; None where there are none.

    The rate is that of drafted tokens, (length - 1) / drafted. Until 2025 it was length / (drafted
    + 1): what fits all lines with one whole number is meant.
    """
    known = [(length, rate) for length, rate in pairs if length > 1 and rate > 0]
    if not known:
        return None
    for bonus in (0, 1):  # the newer meaning first, since both fit where lengths hardly differ
        misfits = [
            fmean(abs(rate - (length - 1 + bonus) / (drafted + bonus)) for length, rate in known)
            for drafted in range(1, MOST_DRAFTED)
        ]
        if min(misfits) <= ROUNDED:
            return 1.0 + misfits.index(min(misfits))
    return fmean((length - 1) / rate for length, rate in known)  # it changes from step to step


def _lines_with(text: str, marks: tuple[str, ...]) -> list[str]:
    lines = (line for line in text.splitlines() if any(mark in line for mark in marks))
    return [line[:LONGEST_LINE] for line in lines]


def _fields(patterns: dict[str, str], text: str) -> dict[str, Any]:
    """The numbers in a text, by the names of the patterns that match, the rates of positions and
    the time of day in seconds, if any."""
    record: dict[str, Any] = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, text, re.M)
        if match:
            record[name] = float([group for group in match.groups() if group][-1])
    rates = RATES.search(text)
    if rates:
        record["per_position"] = tuple(map(float, rates[1].split(", ")))
    clock = re.search(r"\b(\d\d):(\d\d):(\d\d)\b", text[:200])
    if clock and "rank" in patterns:
        hours, minutes, seconds = map(int, clock.groups())
        record["time"] = float(3600 * hours + 60 * minutes + seconds)
    return record


def _records(lines: list[str], patterns: dict[str, str], first: str = "") -> list[dict[str, Any]]:
    """The numbers of lines; neighbours that say different things are taken together.

    A line with the text `first` begins a record.
    """
    records: list[dict[str, Any]] = []
    for line in lines:
        record = _fields(patterns, line)
        begins = bool(first) and first in line
        again = records and (records[-1].keys() - {"time"}) & record.keys()
        if not records or begins or again:
            records.append({})
        records[-1] = record | records[-1]
    return records
