"""An entry: what a source says at one place, its claims, figures of what was measured for them, and links."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple
from urllib.parse import urlencode

from ..config import RunConfig
from ..files import PUBLISHED
from ..strategy import REGISTRIES, format_strategy, format_value
from .claim import Claim, Data


class Series(NamedTuple):
    """Points (x, y) of a figure; `look` is "line", "dashes" (a bound or a prediction) or "dots"."""

    name: str
    points: Sequence[Sequence[float]]
    look: str = "line"


class Lines(NamedTuple):
    """A figure of series over common axes."""

    x: str
    y: str
    series: Sequence[Series]
    log_x: bool = False
    log_y: bool = False


class Table(NamedTuple):
    """A table; cells are text or numbers."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]


class Figure(NamedTuple):
    """A figure of measurements.

    Args:
        data: what it shows.
        draw: from their sums over all texts to `Lines` or a `Table`.
    """

    data: tuple[Data, ...]
    draw: Callable[..., Lines | Table]


class Open(NamedTuple):
    """A link to another tab with the settings of the entry: its label and the parameters of the address."""

    label: str
    query: str


@dataclass(frozen=True)
class Entry:
    """One algorithm, theorem, figure or table of a source.

    Args:
        name: of it, for links and the command; place, title: as a reader looks for it.
        says: what the source says, its numbers with table or figure.
        claims: its sentences as numbers.
        figures: of what was measured.
        quoted: numbers of the source, where they are many.
        opens: where to see it at work.
    """

    name: str
    place: str
    title: str
    says: str
    claims: Sequence[Claim]
    figures: Sequence[Figure] = ()
    opens: Sequence[Open] = ()
    quoted: Table | None = None

    @property
    def data(self) -> tuple[Data, ...]:
        """Its measurements, each once."""
        needed = [*(one for claim in self.claims for one in claim.data), *(one for f in self.figures for one in f.data)]
        return tuple(dict.fromkeys(needed))


class Source(NamedTuple):
    """A source: how it is cited, and its entries in its order."""

    short: str
    title: str
    cite: str
    url: str | None
    about: str
    entries: Sequence[Entry]


@lru_cache
def published_rows() -> list[dict[str, Any]]:
    """All rows, each with source, place, method, target, data, temperature, speedup and tokens_per_pass."""
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]


def printed(source: str, *places: str) -> Table:
    """One table of a source, or several: a row for each target, text and temperature, a column for each method."""
    chosen = [row for row in published_rows() if row["source"] == source and row["place"] in places]
    methods = tuple(dict.fromkeys(row["method"] for row in chosen))
    cells: dict[tuple[Any, ...], dict[str, str]] = {}
    for row in chosen:
        tokens = row["tokens_per_pass"]
        cell = f"{row['speedup']:.2f} x" + ("" if tokens is None else f" ({tokens:.2f})")
        cells.setdefault((row["target"], row["data"], row["temperature"]), {})[row["method"]] = cell
    what = "speedup" if chosen[0]["tokens_per_pass"] is None else "speedup (tokens)"
    head = ("Target", "Text", "T", *(f"{method[0].upper()}{method[1:]}, {what}" for method in methods))
    return Table(head, [[*key, *map(found.get, methods)] for key, found in cells.items()])


def in_others(methods: Sequence[str], quantity: str) -> str:
    """The range of "speedup" or "tokens_per_pass" that the stored tables print of some methods."""
    chosen = [row for row in published_rows() if row["method"] in methods and row.get(quantity) is not None]
    values = [row[quantity] for row in chosen]
    named = ", ".join(dict.fromkeys(f"{row['source']} {row['place'].lower()}" for row in chosen))
    return f"{min(values):g} to {max(values):g} ({named})" if chosen else "none"


def figure(draw: Callable[..., Lines | Table], *data: Data) -> Figure:
    """A figure of measurements."""
    return Figure(data, draw)


def curves(
    x: str, y: str, series: Mapping[str, Iterable[tuple[float, float]]], dashed: Sequence[str] = (), **log: bool
) -> Lines:
    """`Lines` of named series; those of `dashed` are bounds or predictions."""
    looks = [(name, list(points), "dashes" if name in dashed else "line") for name, points in series.items()]
    return Lines(x, y, [Series(*look) for look in looks], **log)


def live(builder: str, verifier: str, temperature: float = 0.8, drafter: str = "", what: str = "") -> Open:
    """A link to the tab Explore with a configuration; `what` is shown there, where an entry has several such links."""
    named = {"temperature": temperature} | _choices("", builder, verifier, drafter, temperature)
    return Open(f"Explore: {what}" if what else "Open in Explore", _query("explore", named))


def compare(*ways: tuple[str, ...], temperature: float = 0.8, **more: Any) -> Open:
    """A link to the tab Compare with a column for each (builder, rule) or (builder, rule, drafter)."""
    named: dict[str, Any] = {"temperature": temperature, **more}
    for letter, (builder, verifier, *drafter) in zip("abc", ways, strict=False):
        named[f"{letter}.decodes"] = "speculation"
        named |= _choices(f"{letter}.", builder, verifier, next(iter(drafter), ""), temperature)
    return Open("Open in Compare", _query("compare", named))


def lab(page: str, **more: Any) -> Open:
    """A link to a page of the tab Lab: "tree", "verification", "race" or "sender"."""
    watched = {"race": "Watch the race", "sender": "Watch sender and receiver"}
    return Open(watched.get(page, f"Open in the {page.capitalize()} lab"), _query("labs", {"lab": page, **more}))


def lesson(number: int) -> Open:
    """A link to a lesson."""
    return Open(f"Lesson {number}", _query("lessons", {"lesson": number}))


def tab(name: str, **more: Any) -> Open:
    """A link to a page of the tab Measure: "acceptance" or "speedup"."""
    page = {"acceptance": "what is accepted", "speedup": "which tree pays"}[name]
    return Open(f"Measure: {page}", _query(name, more))


def _choices(prefix: str, builder: str, verifier: str, drafter: str, temperature: float) -> dict[str, Any]:
    config = RunConfig(builder=builder, verifier=verifier, temperature=temperature, drafter=drafter or None)
    named = {kind: format_strategy(one, defaults=True) for kind, one in zip(REGISTRIES, config.resolved, strict=False)}
    return {f"{prefix}{kind}": text for kind, text in named.items() if text != "model"}  # the default


def _query(name: str, named: dict[str, Any]) -> str:
    return urlencode({"tab": name} | {key: _text(value) for key, value in named.items()}, safe=":,=")


def _text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else format_value(value)
