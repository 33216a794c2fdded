"""The claims of the sources, each decided by arithmetic on what was measured here.

A source is a file of quotes and claims (`assets/papers`, read by `claim`). A claim's `number` is
made of measurements (`positions`, `along`, `runs`, or a proof) and statistics of them;
`store` keeps what was measured and `verdict` decides. The page Papers and the command `papers` show
the findings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from ..base.progress import Progress
from ..measure.quiet import Watch
from ..models.base import Pair
from . import along, bounds, positions, proofs, runs, statistics  # noqa: F401  # registers
from .claim import Entry, load_sources
from .number import is_timed
from .store import Store
from .verdict import VERDICTS, Columns, Finding, find
from .workbench import MAX_TEXTS, SEEDS, TEXTS, Workbench

SOURCES = load_sources()


def entries(names: Sequence[str] = ()) -> list[tuple[str, Entry]]:
    """(source, entry) of the entries with these names, in the order of the page.

    Args:
        names: sources or entries, such as "sequoia" or "sequoia-table-8"; none means all.

    Raises:
        ValueError: if there is none of a name.
    """
    every = {}
    for name, source in SOURCES.items():
        for entry in source.entry:
            every[f"{name}-{entry.name}"] = (name, entry)
    for name in names:
        if name not in SOURCES and name not in every:
            raise ValueError(f"unknown source or entry {name!r}. `specviz papers` lists them.")
    chosen = set(names or SOURCES)
    return [found for name, found in every.items() if chosen & {name, found[0]}]


def decide(entry: Entry, store: Store) -> list[Finding]:
    """The claims of an entry with what a store has for them."""
    findings = []
    for claim in entry.claim:
        data = {call: store.read(call) for call in claim.data}
        findings.append(find(entry, claim, data))
    return findings


@lru_cache
def table(source: str) -> tuple[Finding, ...]:
    """The claims of a source with what is stored for them in the package.

    Args:
        source: one of `SOURCES`.
    """
    store = Store()
    findings = []
    for entry in SOURCES[source].entry:
        findings += decide(entry, store)
    return tuple(findings)


def measure(
    pair: Pair,
    names: Sequence[str] = (),
    timed: bool = False,
    again: bool = False,
    store: Store | None = None,
    texts: int = TEXTS,
    seeds: Sequence[int] = SEEDS,
) -> Iterator[Progress[Store]]:
    """Measure and store, one measurement after the other; what is up to date is left as it is.

    Args:
        pair: the embedded pair.
        names: as for `entries`.
        timed: measure what is timed, and nothing else; else all the rest.
        again: measure also what was measured with these weights.
        store: where to keep it; None means in the package.
        texts: how many texts of each kind a seed has.
        seeds: each has texts of its own.

    Yields:
        Measurements done, of how many, what is being measured, and the store.

    Raises:
        ValueError: if a name is unknown, or the machine was busy while it was timed; what was
            measured until then is stored.
    """
    store = store or Store()
    workbench = Workbench(pair, texts, seeds)
    calls: dict[str, None] = {}  # each once, in their order
    for _, entry in entries(names):
        for claim in entry.claim:
            calls |= dict.fromkeys(call for call in claim.data if is_timed(call) == timed)
    yield Progress(0, len(calls), result=store)
    for number, call in enumerate(calls):
        columns: Columns = {}
        # What another program's work had a part in is not stored: `check` raises.
        watch = None
        if timed:
            watch = Watch.while_idle()
        for update in workbench.measure(call, {} if again else store.read(call, current=True)):
            columns = update.result
            stage = f"{call:.60}: {update.done} of {update.total}"
            yield Progress(number, len(calls), stage, store)
        if columns:
            if watch:
                watch.check()
            store.write(call, columns, pair.info["name"])
    table.cache_clear()


__all__ = [
    "MAX_TEXTS",
    "SOURCES",
    "TEXTS",
    "VERDICTS",
    "Finding",
    "Store",
    "decide",
    "entries",
    "measure",
    "table",
]
