"""The five sources, entry by entry: what each says, and the same question measured here.

An entry is a module with an ENTRY; its numbers are measured by `measured`, kept by `store`, and shown by the tab Papers
and by `python -m specviz papers`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ..codec import plain
from ..models.base import Pair
from . import dyspec, races, sequoia, store, survey, svip
from .bench import Bench
from .entry import DIFFERS, IMPOSSIBLE, REPRODUCED, Entry, Table, Verdict

SOURCES: dict[str, ModuleType] = {
    "sequoia": sequoia, "dyspec": dyspec, "svip": svip, "races": races, "survey": survey,
}  # fmt: skip
STATES = (REPRODUCED, DIFFERS, IMPOSSIBLE)
UNREADABLE = Verdict(IMPOSSIBLE, "What was measured cannot be read; measure it again.")
NOT_YET = Verdict(IMPOSSIBLE, "Not measured yet: run python -m specviz papers --measure.")


class Result(NamedTuple):
    """An entry with what is known of it: its data (None without a measurement), its verdict, and where that is from."""

    source: str
    entry: Entry
    data: dict[str, Any] | None
    verdict: Verdict
    made: str


def entries() -> list[tuple[str, Entry]]:
    """(source, entry) of all entries, in the order of the page."""
    return [(source, module.ENTRY) for source, part in SOURCES.items() for module in part.ENTRIES]


def entry(source: str, name: str) -> Entry:
    """One entry.

    Raises:
        ValueError: if there is none of that name.
    """
    for of, one in entries():
        if (of, one.name) == (source, name):
            return one
    raise ValueError(f"There is no entry {str(name)[:40]!r} of {str(source)[:40]!r}.")


def look(source: str, one: Entry) -> Result:
    """An entry with its stored measurement."""
    if one.measure is None:
        return Result(source, one, None, one.verdict(None), "")
    kept = store.read(source, one.name)
    if kept is None:
        lacking = one.lacks()
        return Result(source, one, None, Verdict(IMPOSSIBLE, lacking) if lacking else NOT_YET, "")
    return result(source, one, kept["data"], f"{one.how}, recorded with {kept['pair']} on {kept['machine']}")


def result(source: str, one: Entry, data: dict[str, Any], made: str) -> Result:
    """An entry with data, whatever they are from; data that an older version stored may not be readable any more."""
    try:
        one.shown(data)
        return Result(source, one, data, one.verdict(data), made)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        return Result(source, one, None, UNREADABLE, made)


def counts(results: Sequence[Result]) -> dict[str, int]:
    """How many entries have each status."""
    return {state: sum(one.verdict.status == state for one in results) for state in STATES}


def measured(
    pair: Pair, source: str, name: str, report: Callable[[str], None] = lambda sentence: None
) -> dict[str, Any]:
    """Measure one entry with a pair, as plain JSON data.

    Raises:
        ValueError: if there is no such entry, or it cannot be measured here.
    """
    return plain(entry(source, name).data(Bench(pair, report=report)))


def measure_all(
    pair: Pair, only: Sequence[str] = (), again: bool = False, report: Callable[[str], None] = lambda sentence: None
) -> int:
    """Measure entries and store them, sharing what they have in common; what is up to date is left as it is.

    Args:
        pair: the embedded pair.
        only: names such as "sequoia" or "sequoia-table-8"; none means all.
        again: measure also what was measured with these weights.
        tell: gets sentences on what is being done.

    Returns:
        How many were measured.
    """
    chosen = [
        (source, one)
        for source, one in entries()
        if (not only or source in only or f"{source}-{one.name}" in only) and one.measurable
    ]
    todo = [(source, one) for source, one in chosen if again or not store.current(source, one.name)]
    bench = Bench(pair)
    for turn, (source, one) in enumerate(todo, 1):
        bench.report = _headed(f"{turn} of {len(todo)}, {source} {one.place}", report)
        bench.report(one.title)
        store.write(source, one.name, one.data(bench), pair.info["name"])
    return len(todo)


def _headed(head: str, report: Callable[[str], None]) -> Callable[[str], None]:
    return lambda sentence: report(f"{head}: {sentence}")


__all__ = [
    "DIFFERS", "IMPOSSIBLE", "REPRODUCED", "SOURCES", "STATES", "Entry", "Result", "Table", "counts", "entries",
    "entry", "look", "measure_all", "measured", "result",
]  # fmt: skip
