"""Readers of what engines print: one `Window` for each line, request or benchmark.

Formats of vLLM (v1/spec_decode/metrics.py, v1/metrics/loggers.py, benchmarks/serve.py; the engine
V0 until 0.9), llama.cpp (tools/server, examples/speculative), SGLang (scheduler metrics,
bench_serving). What numbers are called in them is in `assets/doctor/formats.toml`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from .window import (
    FORMATS,
    Numbers,
    Window,
    add_ranks,
    drafted_per_step,
    rates_of,
    steps_of,
    window_of,
)

REAL = r" {0,40}(\d{1,12}(?:\.\d{1,9})?)"
# Every repetition is limited: a line of any length is read in the time of its length.
MARKS = {"<int>": r" {0,40}(\d{1,12})", "<real>": REAL}
LONGEST_LINE = 4000
RATES = re.compile(
    r"(?:Per-position acceptance rate: |(?:rate per position|acc rate/pos|acc per pos) = \()"
    r"(\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})"
)
CLOCK = re.compile(r"\b(\d\d):(\d\d):(\d\d)\b")
V0 = "V0 log"
SAME_INTERVAL = 5  # seconds; engines of one server print every ten
# The drafters that take time for each token; the others draft all of a step at once.
TOKEN_BY_TOKEN = {"draft", "draft-simple", "draft-eagle3", "draft-mtp"}


def read_vllm_log(text: str) -> Iterator[Window]:
    """A window for each line "Engine 000" with the line "SpecDecoding metrics" that follows it.

    Ranks of a data-parallel server print in turn; what they print at one time is added up.
    """
    first = "Avg generation throughput:"
    lines = []
    for line in _lines_with(text, first, "SpecDecoding metrics:"):
        if "Pending:" not in line:
            lines.append(line)
    yield from _intervals(_records(lines, "vllm", first), _vllm_window)


def _vllm_window(**found: Any) -> Window:
    if not (found.get("throughput") and found.get("running_requests")):
        # The engine was idle for a part of the time.
        for name in ("throughput", "running_requests", "prompts"):
            found.pop(name, None)
    if "accepted" in found and "drafted" in found:
        rates = found.get("per_position", ())
        length = sum(rates) or found.get("acceptance_length", 1.0) - 1
        found["steps"] = steps_of(found["accepted"], length)
        if found["steps"] is None and rates:
            # Where nothing was accepted the length says nothing; the draft has a place for each
            # rate.
            found["steps"] = found["drafted"] / len(rates)
    return Window("vllm", "log", **found)


def read_vllm_v0_log(text: str) -> Iterator[Window]:
    """The last line "Speculative metrics" of the engine V0, which counts since the start.

    Its accepted tokens include those behind a rejected one; its emitted tokens do not.
    """
    counted: Numbers = {}
    for line in _lines_with(text, "Speculative metrics:"):
        found = _numbers(line, "vllm_v0")
        tokens = found.pop("tokens", 0.0)
        if tokens and found.get("drafted") and "emitted" in found:
            steps = max(1.0, found["drafted"] // tokens)
            length = found.pop("emitted") / steps
            counted = found | {"steps": steps, "acceptance_length": length}
    # The lines on throughput come in turns with those on acceptance, which count from the start.
    length = counted.get("acceptance_length")
    for line in _lines_with(text, "Pending:"):
        found = _numbers(line, "vllm")
        throughput = found.get("throughput")
        running = found.get("running_requests")
        if throughput and running:
            yield Window(
                "vllm",
                V0,
                acceptance_length=length,
                throughput=throughput,
                running_requests=running,
            )
    if counted:
        yield Window("vllm", V0, **counted)


def read_benchmark(text: str) -> Iterator[Window]:
    """A window for each result of `vllm bench serve` or SGLang's `bench_serving`."""
    for part in text.split("= Serving Benchmark Result =")[1:]:
        # A result ends at its line of equal signs; what follows is another log.
        part = part.partition("\n=====")[0][:20_000]
        found = _numbers(part, "benchmark")
        rates = re.findall(rf"^ {{1,8}}Position \d{{1,3}}:{REAL}", part, re.M)
        found["per_position"] = rates_of([*map(float, rates)], 100)
        # Nothing else of the two outputs differs for certain.
        sglang = re.search(r"Accept length:|Backend: +sglang", part)
        yield Window("sglang" if sglang else "vllm", "benchmark", prompts=1.0, **found)


def read_offline_example(text: str) -> Iterator[Window]:
    """What vLLM's example of offline speculative decoding prints at its end."""
    lines = _lines_with(text, "num_drafts:", "num_draft_tokens:", "num_accepted_tokens:")
    found = _numbers("\n".join(lines), "offline_example")
    if len(found) == 3:
        rates = re.findall(rf"^acceptance at token \d{{1,3}}:{REAL}", text, re.M)
        yield Window("vllm", "example", per_position=rates_of([*map(float, rates)]), **found)


def read_llama_log(text: str) -> Iterator[Window]:
    """A window for each request, whose line "eval time" stands before or after "draft acceptance".

    Without a mean length a step is any pass after the first token, with a draft or without.
    "statistics" counts since the server was started; it gives the time of drafting, and the rates
    by position where the lines of requests have none.
    """
    totals: dict[str, Numbers] = {}
    for line in _lines_with(text, "statistics "):
        found = _numbers(line, "llama_totals")
        if found.get("drafted"):
            totals[line.partition("statistics ")[2].partition(":")[0].strip()] = found
    # Of all drafters together since the start: a request has its part by what was drafted for it.
    drafting = sum(total.pop("milliseconds", 0.0) for total in totals.values()) / 1000
    drafted = sum(total["drafted"] for total in totals.values())
    lines = _lines_with(text, "eval time =", "draft acceptance")
    for found in _records([line for line in lines if "llama_perf" not in line], "llama"):
        seconds = found.get("milliseconds", 0.0) / 1000
        tokens = found.get("tokens", 0.0)
        timed = seconds and tokens > 1
        if not timed:
            found.pop("milliseconds", None)
        if found.get("drafted") and "accepted" in found:
            accepted = found["accepted"]
            # Steps are not printed: they follow from what was accepted and the mean length.
            found["steps"] = steps_of(accepted, found.get("acceptance_length", 1.0) - 1)
            if found["steps"] is None and timed:
                found["steps"] = max(1.0, tokens - 1 - accepted)
            if timed and drafting and totals.keys() <= TOKEN_BY_TOKEN:
                found["draft_share"] = min(1.0, drafting / drafted * found["drafted"] / seconds)
            # With one drafter its totals are those of the request's own, as far as the request
            # lacks them.
            if len(totals) == 1:
                found = totals[min(totals)] | found
        yield window_of("llama.cpp", "log", found)
    for found in totals.values():
        yield Window("llama.cpp", "statistics", **found)


def read_llama_tool(text: str) -> Iterator[Window]:
    """What `llama-speculative` prints at the end of its text; every step writes a token of its
    own beside the accepted ones."""
    end = text.rfind("n_accept") + 200
    for part in re.split(r"^(?=decoded {1,20}\d)", text[:end], flags=re.M):
        found = _numbers(part[:LONGEST_LINE], "llama_tool")
        if len(found) == 4:
            found["steps"] = max(1.0, found.pop("tokens") - found["accepted"])
            yield Window("llama.cpp", "tool", **found)


def read_sglang_log(text: str) -> Iterator[Window]:
    """A window for each line "Decode batch"; its length contains the bonus token.

    Data-parallel ranks print in turn; what they print at one time is added up.
    """
    records = []
    pairs = []  # lengths and rates, from which the drafted tokens follow
    for line in _lines_with(text, "Decode batch"):
        found = _numbers(line, "sglang")
        length = found.get("acceptance_length")
        # A line without requests, or from before the first step, says nothing of acceptance.
        if found.get("throughput") and found.get("running_requests") and length != 0:
            records.append(found)
            pairs.append((length or 0.0, found.pop("rate", 0.0)))
    window_of = partial(Window, "sglang", "log", draft_length=drafted_per_step(pairs))
    yield from _intervals(records, window_of)


def _intervals(records: Sequence[Numbers], window_of: Callable[..., Window]) -> Iterator[Window]:
    """A window for each time at which ranks print in turn: it ends where one comes again."""
    ranks: dict[float, Window] = {}
    start = None
    for found in records:
        rank = found.pop("rank", -1.0)
        time = found.pop("time", None)
        late = start is not None and time is not None and abs(time - start) > SAME_INTERVAL
        # A rank that speaks again, a line without a rank, or a pause begins the next interval.
        if ranks and (rank < 0 or rank in ranks or late):
            yield add_ranks(list(ranks.values()))
            ranks = {}
        if not ranks:
            start = time
        ranks[rank] = window_of(**found)
    if ranks:
        yield add_ranks(list(ranks.values()))


def _lines_with(text: str, *marks: str) -> list[str]:
    lines = []
    for line in text.splitlines():
        if any(mark in line for mark in marks):
            lines.append(line[:LONGEST_LINE])
    return lines


def _pattern(text: str) -> re.Pattern[str]:
    for mark, number in MARKS.items():
        text = text.replace(mark, number)
    return re.compile(text, re.M)


PATTERNS = {
    form: {name: _pattern(text) for name, text in names.items()}
    for form, names in FORMATS["log"].items()
}


def _numbers(text: str, form: str) -> Numbers:
    """The numbers in a text of a format by their names, the rates of positions, and where engines
    have ranks the time of day in seconds."""
    found: Numbers = {}
    for name, pattern in PATTERNS[form].items():
        match = pattern.search(text)
        if match:
            # A format may be spelt in several ways, each with a group of its own.
            found[name] = float([group for group in match.groups() if group][-1])
    rates = RATES.search(text)
    if rates:
        found["per_position"] = tuple(map(float, rates[1].split(", ")))
    clock = CLOCK.search(text[:200])
    if clock and "rank" in PATTERNS[form]:
        hours, minutes, seconds = map(int, clock.groups())
        found["time"] = 3600 * hours + 60 * minutes + seconds
    return found


def _records(lines: Sequence[str], form: str, first: str = "\n") -> list[Numbers]:
    """The numbers of lines; neighbours that say different things are taken together.

    A line with the text `first` begins a record.
    """
    records: list[Numbers] = []
    for line in lines:
        found = _numbers(line, form)
        # A line that says the same again is of another moment, request or rank.
        if not records or first in line or (records[-1].keys() - {"time"}) & found.keys():
            records.append({})
        records[-1] = found | records[-1]
    return records
