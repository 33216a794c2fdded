"""The Prometheus metrics of engines: one `Window` an engine."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain
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
Scrape = dict[Series, float]


def read_metrics(text: str) -> Iterator[Window]:
    """A window for each engine of one scrape, or of the last of several minus the first."""
    scrapes = scrapes_of(text)
    if not scrapes:
        return
    scrape = scrapes[-1]
    if len(scrapes) > 1:
        scrape = _since(scrapes[0], scrape)
    for engine in dict.fromkeys(series[0] for series in scrape):
        values: dict[tuple[str, int], list[float]] = defaultdict(list)  # of all workers
        for (of_engine, name, position, *_), value in scrape.items():
            if of_engine == engine:
                values[name, position].append(value)
        yield _window(engine, values)


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
        for sample in chain.from_iterable(family.samples for family in families):
            prefix = next(prefix for prefix in PREFIXES if sample.name.startswith(prefix))
            name = FIELDS.get(sample.name.removeprefix(prefix))
            at = sample.labels.get("position") or sample.labels.get("token_position") or "-1"
            # A longer number is no position either, and `int` fails for very long ones.
            position = POSITIONS
            if at == "-1" or at.isdecimal():
                position = int(at[:6])
            if name is None or position >= POSITIONS or not 0 <= sample.value < MOST:
                continue
            labels = sorted(sample.labels.items())
            series = (PREFIXES[prefix], name, position, sample.name, *labels)
            # No mark parts two scrapes, but within one no series comes twice.
            if not scrapes or series in scrapes[-1]:
                scrapes.append({})
            scrapes[-1][series] = sample.value
    return scrapes


def _since(first: Scrape, last: Scrape) -> Scrape:
    """What was counted between two scrapes; all of the last one if the server was started again."""
    change = {}
    for series, value in last.items():
        if series[1] in COUNTED:
            change[series] = value - first.get(series, 0.0)
    if any(value < 0 for value in change.values()):
        return last
    return last | change


def _window(engine: str, values: dict[tuple[str, int], list[float]]) -> Window:
    """The window of an engine, from what its workers say by number and position."""
    fields: Numbers = {}
    at: dict[str, list[float]] = defaultdict(list)  # number -> sums by position
    for (name, position), each in sorted(values.items()):
        value = fmean(each) if name in MEANS else sum(each)
        if name.endswith("_at"):
            at[name].append(value)
        elif position == NO_POSITION and value:
            fields[name] = value
    accepted = at["accepted_at"]
    drafted = at["drafted_at"]
    # Some engines count by position only, others in all.
    if drafted and drafted[0]:  # every step drafts its first token
        fields |= {"steps": drafted[0], "drafted": sum(drafted), "accepted": sum(accepted)}
        fields.pop("acceptance_length", None)
    if accepted and "steps" in fields:
        fields["per_position"] = tuple(count / fields["steps"] for count in accepted)
    return window_of(engine, "metrics", fields)
