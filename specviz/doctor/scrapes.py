"""The Prometheus metrics of engines: one `Window` an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import fmean
from typing import Any

from .log_lines import drafted_per_step
from .window import MOST, Window

PREFIXES = {
    "vllm:": "vllm",
    "llamacpp:": "llama.cpp",
    "sglang:": "sglang",
    "trtllm_": "tensorrt-llm",
}
# The name of a metric without its prefix -> what it counts.
COUNTERS = {
    "spec_decode_num_drafts_total": "steps",
    "spec_decode_num_draft_tokens_total": "drafted",
    "spec_decode_num_accepted_tokens_total": "accepted",
    "spec_decode_drafted_tokens_total": "drafted_at",
    "spec_decode_num_accepted_tokens_per_pos_total": "accepted_at",
    "spec_decode_accepted_tokens_total": "accepted_at",
    "tokens_predicted_total": "tokens",
    "tokens_predicted_seconds_total": "seconds",
}
SUMS = {
    "gen_throughput": "throughput",
    "num_requests_running": "running_requests",
    "num_running_reqs": "running_requests",
    "num_generation_requests": "running_requests",
}
MEANS = {
    "spec_accept_length": "acceptance_length",
    "spec_accept_rate": "rate",
    "spec_decode_acceptance_length": "acceptance_length",
    "spec_decode_draft_overhead": "draft_share",
}
FIELDS = COUNTERS | SUMS | MEANS
POSITIONS = 128
LONGEST_LINE = 5000


@dataclass
class Scrape:
    """The samples of one moment: engine -> field -> position (-1 without one) -> values of all
    workers."""

    samples: dict[str, dict[str, dict[int, list[float]]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    )
    series: set[Any] = field(default_factory=set)

    def record(self, engine: str) -> dict[str, dict[int, float]]:
        """field -> position -> the workers' mean or sum."""
        return {
            name: {
                position: fmean(values) if name in MEANS.values() else sum(values)
                for position, values in positions.items()
            }
            for name, positions in self.samples[engine].items()
        }


def read_metrics(text: str) -> Iterator[Window]:
    """A window for each engine of one scrape, or of the last of several minus the first."""
    scrapes = scrapes_of(text)
    if not scrapes:
        return
    for engine in scrapes[-1].samples:
        first, last = scrapes[0].record(engine), scrapes[-1].record(engine)
        yield _window(engine, _since(first, last) if len(scrapes) > 1 else last)


def scrapes_of(text: str) -> list[Scrape]:
    """The scrapes in a text; a series that comes again begins another one."""
    lines = [line for line in text.splitlines() if line.startswith(tuple(PREFIXES))]
    if not lines:
        return []
    # Imported where it is used: it brings a server, which costs every command 70 ms.
    from prometheus_client.parser import text_string_to_metric_families

    scrapes: list[Scrape] = []
    for line in lines:
        if len(line) > LONGEST_LINE:
            continue
        try:
            families = list(text_string_to_metric_families(line))
        except ValueError:
            continue  # a damaged line
        for sample in (sample for family in families for sample in family.samples):
            prefix = next(prefix for prefix in PREFIXES if sample.name.startswith(prefix))
            name = FIELDS.get(sample.name.removeprefix(prefix))
            text_position = sample.labels.get("position", sample.labels.get("token_position", "-1"))
            if name is None or not 0 <= sample.value < MOST:
                continue
            if text_position != "-1" and not text_position.isdecimal():
                continue
            position = int(text_position[:6])
            if position >= POSITIONS:
                continue
            series = sample.name, tuple(sorted(sample.labels.items()))
            if not scrapes or series in scrapes[-1].series:
                scrapes.append(Scrape())
            scrapes[-1].series.add(series)
            scrapes[-1].samples[PREFIXES[prefix]][name][position].append(sample.value)
    return scrapes


def _since(first: dict[str, dict[int, float]], last: dict[str, dict[int, float]]) -> dict[str, Any]:
    """What was counted between two scrapes; all of the last one if the server was started again."""
    change = {
        name: {
            position: value - first.get(name, {}).get(position, 0.0)
            for position, value in positions.items()
        }
        for name, positions in last.items()
        if name in COUNTERS.values()
    }
    restarted = any(value < 0 for positions in change.values() for value in positions.values())
    return last if restarted else last | change


def _window(engine: str, record: dict[str, dict[int, float]]) -> Window:
    accepted, drafted = (
        [value for _, value in sorted(record.pop(name, {}).items())]
        for name in ("accepted_at", "drafted_at")
    )
    fields: dict[str, Any] = {
        name: positions[-1] for name, positions in record.items() if positions.get(-1)
    }
    rate = fields.pop("rate", 0.0)
    fields["draft_length"] = drafted_per_step([(fields.get("acceptance_length", 0.0), rate)])
    if drafted and drafted[0]:  # every step drafts its first token
        fields |= {"steps": drafted[0], "drafted": sum(drafted), "accepted": sum(accepted)}
        fields.pop("acceptance_length", None)
    tokens = fields.pop("tokens", 0.0)
    if tokens and "seconds" in fields:
        fields["throughput"] = tokens / fields["seconds"]
    if accepted and "steps" in fields:
        fields["per_position"] = tuple(count / fields["steps"] for count in accepted)
    return Window(engine, "metrics", **fields)
