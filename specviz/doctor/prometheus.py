"""`/metrics` of the four engines in Prometheus's text format: one scrape, or the last of several minus the first."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from .window import Window, lines_with, number

COUNTS = {
    "steps": "spec_decode_num_drafts_total", "drafted": "spec_decode_num_draft_tokens_total",
    "accepted": "spec_decode_num_accepted_tokens_total",
    "accepted_at": "spec_decode_num_accepted_tokens_per_pos_total",
}  # fmt: skip
# engine, prefix -> field: metric; fields that end in "_at" are counters of positions.
METRICS = {
    ("vllm", "vllm:"): COUNTS | {"running": "num_requests_running"},
    ("llama.cpp", "llamacpp:"): COUNTS
    | {"tokens": "tokens_predicted_total", "seconds": "tokens_predicted_seconds_total"},
    ("sglang", "sglang:"): {
        "acceptance_length": "spec_accept_length", "running": "num_running_reqs", "throughput": "gen_throughput",
    },
    ("tensorrt-llm", "trtllm_"): {
        "drafted": "spec_decode_num_draft_tokens_total", "accepted": "spec_decode_num_accepted_tokens_total",
        "drafted_at": "spec_decode_drafted_tokens_total", "accepted_at": "spec_decode_accepted_tokens_total",
        "acceptance_length": "spec_decode_acceptance_length", "draft_share": "spec_decode_draft_overhead",
        "running": "num_generation_requests",
    },
}  # fmt: skip
SAMPLE = re.compile(r"((?:vllm:|llamacpp:|sglang:|trtllm_)\w{1,80}(?:\{[^}]{0,2000}\})?) (\d[-+.\w]{0,30})")
POSITION = re.compile(r'\b(?:token_)?position="(\d{1,3})"')
Scrape = dict[tuple[str, int | None], float]  # (name, position): value, of all workers together


def read_metrics(text: str) -> Iterator[Window]:
    """A window for each engine."""
    scrapes: list[Scrape] = []
    seen: set[str] = set()
    for line in lines_with(text, *(prefix for _, prefix in METRICS)):
        try:
            series, value = SAMPLE.search(line).groups()  # type: ignore[union-attr]
            count = number(float(value))
        except (AttributeError, ValueError):
            continue
        if count is not None:
            if not scrapes or series in seen:  # a series that comes again begins a scrape
                scrapes.append(defaultdict(float))
                seen = set()
            seen.add(series)
            place = POSITION.search(series)
            scrapes[-1][series.partition("{")[0], int(place[1]) if place else None] += count
    if not scrapes:
        return
    last = scrapes[-1]
    change = {key: last[key] - scrapes[0].get(key, 0.0) for key in last if key[0].endswith("_total")}
    if len(scrapes) > 1 and min(change.values(), default=0.0) >= 0:  # else the server was started again between them
        last = last | change
    for (engine, prefix), names in METRICS.items():
        record: dict[str, Any] = {field: _value(last, prefix + name, field) for field, name in names.items()}
        if any(record.values()):
            yield _window(engine, record)


def _value(scrape: Scrape, name: str, field: str) -> Any:
    if not field.endswith("_at"):
        return scrape.get((name, None)) or None
    counts = {place: value for (one, place), value in scrape.items() if one == name and place is not None}
    return [counts[place] for place in range(len(counts))] if sorted(counts) == list(range(len(counts))) else []


def _window(engine: str, record: dict[str, Any]) -> Window:
    accepted, drafted, tokens = (record.pop(name, None) for name in ("accepted_at", "drafted_at", "tokens"))
    if drafted and drafted[0]:  # every step drafts its first token
        record |= {"steps": drafted[0], "drafted": sum(drafted), "accepted": sum(accepted), "acceptance_length": None}
    if tokens and record["seconds"]:
        record["throughput"] = tokens / record["seconds"]
    if accepted and record["steps"]:
        record["per_position"] = tuple(count / record["steps"] for count in accepted)
    return Window(engine, "metrics", **record)
