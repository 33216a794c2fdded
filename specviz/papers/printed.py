"""What the sources' tables print, from the stored file of published figures."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..paths import PUBLISHED
from .entry import Table


@lru_cache
def rows() -> list[dict[str, Any]]:
    """All rows, each with source, place, method, target, data, temperature, speedup and tokens_per_pass."""
    return json.loads(PUBLISHED.read_text(encoding="utf-8"))["rows"]


def printed(source: str, *places: str) -> Table:
    """One table of a source, or several: a row for each target, text and temperature, a column for each method."""
    chosen = [row for row in rows() if row["source"] == source and row["place"] in places]
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
    chosen = [row for row in rows() if row["method"] in methods and row.get(quantity) is not None]
    values = [row[quantity] for row in chosen]
    named = ", ".join(dict.fromkeys(f"{row['source']} {row['place'].lower()}" for row in chosen))
    return f"{min(values):g} to {max(values):g} ({named})" if chosen else "none"
