"""The claims of the five sources, each decided by arithmetic on what was measured here.

A source is a module of entries, an entry holds claims (`claim`), and a claim names its measurements (`on_rows`,
`in_runs`) or proofs (`proofs`, `bounds_hold`); `store` keeps what was measured. The page Papers and
`python -m specviz papers` show them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..benchmarks.quiet import Watch
from ..models.base import Pair
from . import dyspec, races, sequoia_tables, survey, svip
from .claim import DIFFERS, MISSING, PROVEN, REPRODUCED, UNDECIDED, VERDICTS, Columns, Data, Finding, find, totals
from .entry import Entry, Lines, Source, Table
from .store import Store
from .workbench import MOST_TEXTS, SEEDS, TEXTS, Workbench

SOURCES: dict[str, Source] = {
    "sequoia": sequoia_tables.SOURCE, "dyspec": dyspec.SOURCE, "svip": svip.SOURCE, "races": races.SOURCE,
    "survey": survey.SOURCE,
}  # fmt: skip


class Result(NamedTuple):
    """An entry with its findings, its figures, and where they are from."""

    source: str
    entry: Entry
    findings: tuple[Finding, ...]
    blocks: tuple[Lines | Table, ...]
    made: str

    @property
    def state(self) -> str:
        """The verdict that a reader must know of: the first of these that a claim has."""
        found = {one.verdict for one in self.findings}
        return next(state for state in (DIFFERS, UNDECIDED, REPRODUCED, PROVEN, MISSING) if state in found)


def entries() -> list[tuple[str, Entry]]:
    """(source, entry) of all entries, in the order of the page."""
    return [(name, one) for name, source in SOURCES.items() for one in source.entries]


def entry(source: str, name: str) -> Entry:
    """One entry.

    Raises:
        ValueError: if there is none of that name.
    """
    for of, one in entries():
        if (of, one.name) == (source, name):
            return one
    raise ValueError(f"There is no entry {str(name)[:40]!r} of {str(source)[:40]!r}.")


@lru_cache
def shipped() -> Store:
    """What is stored in the package."""
    return Store()


@lru_cache(maxsize=256)
def stored(source: str, name: str) -> Result:
    """An entry with what is stored in the package."""
    return look(source, entry(source, name), shipped())


def look(source: str, one: Entry, store: Store) -> Result:
    """An entry with what a store holds."""
    made = ", and ".join(dict.fromkeys(filter(None, map(store.made, one.data))))
    return result(source, one, store.read, f"Recorded with {made}." if made else "")


def result(source: str, one: Entry, read: Callable[[Data], Columns | None], made: str) -> Result:
    """An entry decided by what `read` finds."""
    findings = tuple(find(claim, [read(data) for data in claim.data]) for claim in one.claims)
    return Result(source, one, findings, tuple(_drawn(one, read)), made)


def _drawn(one: Entry, read: Callable[[Data], Columns | None]) -> Iterable[Lines | Table]:
    for figure in one.figures:
        found = [read(data) for data in figure.data]
        if all(found):
            try:
                yield figure.draw(*(totals(columns) for columns in found if columns))
            except (KeyError, ValueError, ZeroDivisionError):
                continue  # stored by another version: its claims say so


def counts(findings: Iterable[Finding]) -> dict[str, int]:
    """How many claims have each verdict."""
    found = Counter(one.verdict for one in findings)
    return {verdict: found[verdict] for verdict in VERDICTS}


def measurable(one: Entry) -> bool:
    """Whether this machine can measure any of it."""
    return any(not data.lacks() for data in one.data)


def measured(
    pair: Pair, source: str, name: str, report: Callable[[str], None] = lambda sentence: None
) -> dict[str, Columns]:
    """Measure one entry, as plain JSON data by key.

    Raises:
        ValueError: if there is no such entry, or it cannot be measured here.
    """
    bench = Workbench(pair, report=report)
    return {data.key: bench.measure(data) for data in entry(source, name).data if not data.lacks()}


def again(source: str, name: str, found: Mapping[str, Columns], made: str) -> Result:
    """An entry decided by what `measured` returned."""
    return result(source, entry(source, name), lambda data: found.get(data.key), made)


def measure_all(
    pair: Pair,
    only: Sequence[str] = (),
    timed: bool = False,
    again: bool = False,
    store: Store | None = None,
    seeds: Sequence[int] = SEEDS,
    texts: int = TEXTS,
    report: Callable[[str], None] = lambda sentence: None,
) -> int:
    """Measure and store, one measurement after the other; what is up to date is left as it is.

    Args:
        pair: the embedded pair.
        only: names such as "sequoia" or "sequoia-table-8"; none means all.
        timed: measure what is timed, and nothing else; else all the rest.
        again: measure also what was measured with these weights.
        store, seeds, texts: where to keep it, the seeds of the texts, and how many of each kind a seed has.
        report: gets sentences on what is being done.

    Returns:
        How many were measured.

    Raises:
        ValueError: if the machine was busy while it was timed; what was measured until then is kept.
    """
    store = store or shipped()
    chosen = (one for source, one in entries() if not only or {source, f"{source}-{one.name}"} & set(only))
    every = dict.fromkeys(data for one in chosen for data in one.data if (data.how == "timed") == timed)
    bench = Workbench(pair, seeds, texts)
    done = [] if again else [data for data in every if store.current(data) and not _lacking(bench, data, store)]
    todo = [data for data in every if data not in done and not data.lacks()]
    for turn, data in enumerate(todo, 1):
        bench.report = _headed(f"{turn} of {len(todo)}", report)
        watch = Watch.while_idle() if timed else None
        columns = bench.measure(data, None if again or not store.current(data) else store.read(data))
        if watch:
            watch.check()
        store.write(data, columns, pair.info["name"])
    stored.cache_clear()
    return len(todo)


def _lacking(bench: Workbench, data: Data, store: Store) -> bool:
    """Whether more texts are asked for than are stored."""
    wanted = {text.name for text in bench.texts(dict(data.args).get("kind", ""))}
    return data.how != "proof" and not wanted <= set(store.read(data) or ())


def _headed(head: str, report: Callable[[str], None]) -> Callable[[str], None]:
    return lambda sentence: report(f"{head}, {sentence}")


class Row(NamedTuple):
    """One claim as a row of a table: its entry, text, place in the source, numbers in words, verdict and reason."""

    entry: str
    claim: str
    place: str
    published: str
    measured: str
    verdict: str
    reason: str


@lru_cache
def table(source: str) -> tuple[Row, ...]:
    """The claims of a source with what is stored for them.

    Args:
        source: one of `SOURCES`.
    """
    rows = []
    for one in SOURCES[source].entries:
        result = stored(source, one.name)
        for found in result.findings:
            claim, bound = found.claim, found.claim.bound
            published = (
                f"{bound[0]:.4g} to {bound[1]:.4g}" if isinstance(bound, tuple) else f"{claim.relation} {bound:.4g}"
            )
            measured = "–" if found.estimate is None else f"{found.estimate:.3g}"
            if found.low is not None and found.high is not None and found.texts:
                measured += f" ({found.low:.3g} to {found.high:.3g})"
            place = ", ".join(filter(None, (one.place, claim.place)))
            rows.append(Row(one.name, claim.says, place, published, measured, found.verdict, found.sentence))
    return tuple(rows)


__all__ = [
    "MOST_TEXTS", "SEEDS", "SOURCES", "TEXTS", "VERDICTS", "Entry", "Finding", "Result", "Store", "Table", "again",
    "counts", "entries", "entry", "look", "measurable", "measure_all", "measured", "stored",
]  # fmt: skip
