"""The claims of the five sources, each decided by arithmetic on what was measured here.

A source is a file of quotes and claims (`assets/papers`, read by `claim`). A claim names
measurements (`on_positions`, `along`, `runs`, `timings`, or a proof) and a statistic of them
(`statistics`); `store` keeps what was measured and `verdict` decides. The page Papers and the
command `papers` show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from ..base.progress import Progress
from ..measure.quiet import Watch
from ..models.base import Pair
from . import along, bound_proofs, on_positions, proofs, runs, timings  # noqa: F401  # they register measurements
from .claim import Claim, Entry, load_sources
from .store import Store
from .verdict import VERDICTS, Finding, find
from .workbench import MAX_TEXTS, TEXTS, Workbench, parse_key

SOURCES = load_sources()


class Row(NamedTuple):
    """One claim as a row of a table, in words.

    Attributes:
        entry: name of its entry; claim: its text; place: where it stands in the source.
        published, measured: the source's number, and this machine's with its interval.
        verdict: one of `VERDICTS`; reason: why, where there is more to say.
        check: the command that proves it, for a claim of losslessness; else "".
    """

    entry: str
    claim: str
    place: str
    published: str
    measured: str
    verdict: str
    reason: str
    check: str = ""


def entries(names: Sequence[str] = ()) -> list[tuple[str, Entry]]:
    """(source, entry) of the entries with these names, in the order of the page.

    Args:
        names: sources or entries, such as "sequoia" or "sequoia-table-8"; none means all.

    Raises:
        ValueError: if there is none of a name.
    """
    by_name = {
        f"{name}-{entry.name}": (name, entry)
        for name, source in SOURCES.items()
        for entry in source.entry
    }
    if unknown := [name for name in names if name not in SOURCES and name not in by_name]:
        raise ValueError(f"unknown source or entry {unknown[0]!r}. `specviz papers` lists them.")
    return [pair for full, pair in by_name.items() if not names or {full, pair[0]} & set(names)]


def decide(claim: Claim, store: Store | None = None) -> Finding:
    """A claim with what a store holds for it; None means what is shipped."""
    return find(claim, [(store or shipped()).read(key) for key in claim.data])


@lru_cache
def shipped() -> Store:
    """What is stored in the package."""
    return Store()


@lru_cache
def table(source: str) -> tuple[Row, ...]:
    """The claims of a source with what is stored for them.

    Args:
        source: one of `SOURCES`.
    """
    return tuple(row for entry in SOURCES[source].entry for row in rows(entry))


def rows(entry: Entry, store: Store | None = None) -> list[Row]:
    """The claims of an entry with what a store holds for them; None means what is shipped."""
    return [_row(entry, decide(claim, store)) for claim in entry.claim]


def _row(entry: Entry, finding: Finding) -> Row:
    claim, bound, measured = finding.claim, finding.claim.bound, "–"
    published = (
        f"{bound[0]:.4g} to {bound[1]:.4g}"
        if isinstance(bound, tuple)
        else f"{claim.relation} {bound:.4g}"
    )
    if claim.proof:
        published = "exact" if claim.relation == "<" else "not exact"
    if finding.estimate is not None:
        measured = f"{'error ' if claim.proof else ''}{finding.estimate:.3g}"
    if finding.low is not None:
        measured += f" ({finding.low:.3g} to {finding.high:.3g})"
    place = ", ".join(filter(None, (entry.place, claim.place)))
    check = (
        f"specviz check --builder {claim.check[0]} --verifier {claim.check[1]}"
        if claim.check
        else ""
    )
    return Row(
        entry.name, claim.text, place, published, measured, finding.verdict, finding.reason, check
    )


def measure(
    pair: Pair,
    names: Sequence[str] = (),
    timed: bool = False,
    again: bool = False,
    store: Store | None = None,
    texts: int = TEXTS,
) -> Iterator[Progress[None]]:
    """Measure and store, one measurement after the other; what is up to date is left as it is.

    Args:
        pair: the embedded pair.
        names: as for `entries`.
        timed: measure what is timed, and nothing else; else all the rest.
        again: measure also what was measured with these weights.
        store: where to keep it; None means in the package.
        texts: how many texts of each kind a seed has.

    Yields:
        Measurements done, of how many, and what is being measured.

    Raises:
        ValueError: if a name is unknown, or the machine was busy while it was timed; what was
            measured until then is stored.
    """
    store, bench = store or shipped(), Workbench(pair, texts)
    named = dict.fromkeys(
        key for _, entry in entries(names) for claim in entry.claim for key in claim.data
    )
    keys = [key for key in named if (parse_key(key)[0].kind == "timed") == timed]
    todo = [
        key for key in keys if again or not store.current(key) or _lacks_texts(bench, key, store)
    ]
    for number, key in enumerate(todo):
        watch = Watch.while_idle() if timed else None
        columns = None if again or not store.current(key) else store.read(key)
        yield Progress(number, len(todo), key)
        for update in bench.measure(key, columns):
            columns = update.result
            yield Progress(number, len(todo), f"{key}: {update.done} of {update.total}")
        if watch:
            watch.check()
        if columns:
            store.write(key, columns, pair.info["name"], timed)
    table.cache_clear()


def _lacks_texts(bench: Workbench, key: str, store: Store) -> bool:
    """Whether there are texts that a stored measurement does not have."""
    measured, arguments = parse_key(key)
    names = {text.name for text in bench.texts(arguments.get("kind", ""))}
    return measured.kind != "proof" and not names <= set(store.read(key) or ())


__all__ = [
    "MAX_TEXTS",
    "SOURCES",
    "TEXTS",
    "VERDICTS",
    "Finding",
    "Row",
    "Store",
    "decide",
    "entries",
    "measure",
    "rows",
    "shipped",
    "table",
]
