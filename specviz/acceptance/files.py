"""Acceptance vectors as a file: what `python -m specviz calibrate --json` prints, one or several of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, fields
from math import isfinite
from typing import Any

from specviz import DRAFTERS, VERIFIERS
from specviz.acceptance.on_text import LATER, Acceptance
from specviz.acceptance.vectors import MOST, check_acceptance, shares

COLUMNS = ("acceptance", "low", "high")
SCHEMES = ("iid", "distinct", "top", "race")


def to_text(vectors: Sequence[Acceptance]) -> str:
    """One vector as an object, several in a list."""
    rows = [asdict(vector) for vector in vectors]
    return json.dumps(rows[0] if len(rows) == 1 else {"vectors": rows}, indent=1) + "\n"


def from_text(text: str | bytes) -> tuple[Acceptance, ...]:
    """The vectors of an uploaded file.

    Raises:
        ValueError: if it is damaged in any way; the message says where.
    """
    try:
        data = json.loads(text if isinstance(text, str) else text.decode("utf-8"))
    except (ValueError, RecursionError):
        raise ValueError("The file is not JSON. It may be truncated or damaged.") from None
    rows = data.get("vectors", [data]) if isinstance(data, dict) else None
    if not isinstance(rows, list) or not 0 < len(rows) <= MOST:
        raise ValueError(
            'The file must contain an acceptance vector from "Save vectors" or `specviz calibrate --json`.'
        )
    return tuple(
        _vector(row, f"vector {number}" if len(rows) > 1 else "the vector") for number, row in enumerate(rows, 1)
    )


def _vector(row: Any, where: str) -> Acceptance:
    names = [f.name for f in fields(Acceptance)]
    row = LATER | row if isinstance(row, dict) else row
    if not isinstance(row, dict) or (lost := [name for name in names if name not in row]):
        raise ValueError(f"The file is damaged: {where} has no {lost[0] if isinstance(row, dict) else names[0]!r}.")
    uneven = f"The file is damaged: {where} must have one share, low and high for each of up to {MOST} ranks."
    lists = [row[name] for name in COLUMNS if isinstance(row[name], list)]
    if any(isinstance(item, list) for column in lists for item in column):
        raise ValueError(uneven)
    # Of a single text there is no interval.
    single = len(lists) == len(COLUMNS) and row["low"] == row["high"] == [None] * len(row["acceptance"])
    columns = {name: shares(row[name], f"{name} of {where}") for name in (COLUMNS[:1] if single else COLUMNS)}
    if len({len(column) for column in columns.values()}) != 1:
        raise ValueError(uneven)
    try:
        check_acceptance(columns["acceptance"], where)
    except ValueError:
        raise ValueError(
            f"The file is damaged: {where} sums to more than 1, but at most one child of a node can be accepted."
        ) from None
    if not single and any(not low <= share <= high for share, low, high in zip(*columns.values(), strict=True)):
        raise ValueError(f"The file is damaged: an interval of {where} does not contain its share.")
    rules: dict[str, Any] = {
        "positions": (type(row["positions"]) is int and row["positions"] > 0, "a whole number from 1"),
        "method": (row["method"] in ("expected", "counted"), "expected or counted"),
        "drafter": (isinstance(row["drafter"], str) and row["drafter"] in DRAFTERS, "one of the drafters here"),
        "levels": (isinstance(row["levels"], list), "a list of vectors, perhaps empty"),
        "verifier": (isinstance(row["verifier"], str) and row["verifier"] in VERIFIERS, "one of the rules here"),
        "scheme": (isinstance(row["scheme"], str) and row["scheme"] in SCHEMES, f"one of {', '.join(SCHEMES)}"),
        "temperature": (_temperature(row["temperature"]), "a number from 0 to 2"),
        "draft_temperature": (
            row["draft_temperature"] is None or _temperature(row["draft_temperature"]), "a number from 0 to 2, or null",
        ),
    }  # fmt: skip
    for name, (good, must) in rules.items():
        if not good:
            raise ValueError(f"The file is damaged: {name} of {where} must be {must}; got {str(row[name])[:40]!r}.")
    levels = check_acceptance(row["levels"], f"levels of {where}") if row["levels"] else ()
    if levels and not isinstance(levels[0], tuple):
        raise ValueError(f"The file is damaged: levels of {where} must be one vector for each level.")
    return Acceptance.from_json(json.dumps(row))


def _temperature(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value) and 0 <= value <= 2
