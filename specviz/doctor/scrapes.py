"""The Prometheus metrics of engines: one `Window` an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from statistics import fmean
from typing import Any

from .window import FORMATS, MOST, Numbers, Window, window_of

METRICS = FORMATS["metrics"]
PREFIXES: dict[str, str] = METRICS["prefixes"]
# The name of a metric without its prefix -> the number that it gives.
FIELDS: dict[str, str] = METRICS["counters"] | METRICS["sums"] | METRICS["means"]
COUNTED = set(METRICS["counters"].values())
MEANS = set(METRICS["means"].values())
POSITIONS = 128
NO_POSITION = -1
LONGEST_LINE = 5000

Series = tuple[Any, ...]  # engine, number, position, then the labels that tell workers apart
Record = dict[tuple[str, int], float]  # number and position -> all workers' mean or sum


def read_metrics(text: str) -> Iterator[Window]:
    """A window for each engine of one scrape, or of the last of several minus the first."""
    scrapes = scrapes_of(text)
    if not scrapes:
        return
    for engine in dict.fromkeys(series[0] for series in scrapes[-1]):
        record = _record(scrapes[-1], engine)
        if len(scrapes) > 1:
            record = _since(_record(scrapes[0], engine), record)
        yield _window(engine, record)


def scrapes_of(text: str) -> list[dict[Series, float]]:
    """The scrapes in a text; a series that comes again begins another one."""
    lines = [line for line in text.splitlines() if line.startswith(tuple(PREFIXES))]
    if not lines:
        return []
    # Imported where it is used: it brings a server, which costs every command 70 ms.
    from prometheus_client.parser import text_string_to_metric_families

    scrapes: list[dict[Series, float]] = []
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
            at = sample.labels.get("position") or sample.labels.get("token_position") or "-1"
            # A longer number is no position either, and `int` fails for very long ones.
            position = int(at[:6]) if at == "-1" or at.isdecimal() else POSITIONS
            if name is None or position >= POSITIONS or not 0 <= sample.value < MOST:
                continue
            labels = sorted(sample.labels.items())
            series = (PREFIXES[prefix], name, position, sample.name, *labels)
            # No mark parts two scrapes, but within one no series comes twice.
            if not scrapes or series in scrapes[-1]:
                scrapes.append({})
            scrapes[-1][series] = sample.value
    return scrapes


def _record(scrape: dict[Series, float], engine: str) -> Record:
    values: dict[tuple[str, int], list[float]] = defaultdict(list)
    for (of_engine, name, position, *_), value in scrape.items():
        if of_engine == engine:
            values[name, position].append(value)
    return {key: fmean(each) if key[0] in MEANS else sum(each) for key, each in values.items()}


def _since(first: Record, last: Record) -> Record:
    """What was counted between two scrapes; all of the last one if the server was started again."""
    change = {key: value - first.get(key, 0.0) for key, value in last.items() if key[0] in COUNTED}
    return last if any(value < 0 for value in change.values()) else last | change


def _by_position(record: Record, name: str) -> list[float]:
    return [value for (other, _), value in sorted(record.items()) if other == name]


def _window(engine: str, record: Record) -> Window:
    fields: Numbers = {
        name: value
        for (name, position), value in record.items()
        if position == NO_POSITION and value and not name.endswith("_at")
    }
    accepted = _by_position(record, "accepted_at")
    drafted = _by_position(record, "drafted_at")
    # Some engines count by position only, others in all.
    if drafted and drafted[0]:  # every step drafts its first token
        fields |= {"steps": drafted[0], "drafted": sum(drafted), "accepted": sum(accepted)}
        fields.pop("acceptance_length", None)
    if accepted and "steps" in fields:
        fields["per_position"] = tuple(count / fields["steps"] for count in accepted)
    return window_of(engine, "metrics", fields)
