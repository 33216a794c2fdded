"""Acceptance vectors in files: of `calibrate`, of papers, or beside a checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from ..base.files import ACCEPTANCE, parse_json, read_text
from .chain_rates import PROFILE, read_profile_rates
from .vectors import MAX_BYTES, as_json, check_acceptance, find_row


def read_acceptance(
    path: str | Path, verifier: str | None = None, temperature: float | None = None
) -> tuple:
    """The vector in a JSON file: {"acceptance": [...]}, "levels" with one per level, a profile
    from `calibrate`, or an acceptance profile as it travels with a checkpoint.

    Of a profile it is the one for a rule at the nearest temperature, see `find_row`, or the first.
    """
    row = read_row(path, verifier, temperature)
    return check_acceptance(row.get("levels") or row["acceptance"], f"acceptance in {str(path)!r}")


def read_row(
    path: str | Path, verifier: str | None = None, temperature: float | None = None
) -> dict[str, Any]:
    """The vector in a file with all that the file says about it; arguments and errors as for
    `read_acceptance`."""
    text = read_text(path, "acceptance file", MAX_BYTES)
    try:
        data = parse_json(text)
    except ValueError:
        raise ValueError(
            f'acceptance file {str(path)!r} must contain JSON like {{"acceptance": [0.6, 0.2]}}.'
        ) from None
    if isinstance(data, dict) and isinstance(rows := data.get("vectors"), list):
        needed = {"verifier", "temperature", "acceptance"}
        if rows := [row for row in rows if isinstance(row, dict) and needed <= row.keys()]:
            nearest = rows[0]["temperature"] if temperature is None else temperature
            return find_row({"vectors": rows}, verifier or rows[0]["verifier"], nearest)
    if isinstance(data, dict) and data.keys() & PROFILE:
        return row_of_profile(data, f"acceptance file {str(path)!r}")
    if not isinstance(data, dict) or "acceptance" not in data:
        raise ValueError(
            f'acceptance file {str(path)!r} must contain an object with a list "acceptance".'
        )
    return data


def row_of_profile(data: dict[str, Any], where: str) -> dict[str, Any]:
    """The vector that follows from an acceptance profile: of first children alone, 0 below the
    positions that were measured.

    Raises:
        ValueError: if it has no rates.
    """
    rates = read_profile_rates(data, where)
    if rates is None:
        raise ValueError(f"{where} has no acceptance rates: it was not measured. Use another.")
    return {"acceptance": rates.levels[0], "levels": (*rates.levels, (0.0,))}


def mismatch(path: str | Path, settings: dict[str, Any]) -> str:
    """A sentence where the vector in a file was measured with other settings, as far as it has
    them; else ""."""
    row = read_row(path, settings.get("verifier"), settings.get("temperature"))
    other = [
        f"{name} {row[name]!s:.80}, not {value!s:.80}"
        for name, value in settings.items()
        if value is not None and row.get(name) not in (None, "", {}) and row[name] != as_json(value)
    ]
    return f"the vector in {str(path)!r} was measured with {'; '.join(other)}" if other else ""


def published() -> dict[str, dict[str, Any]]:
    """The vectors printed in papers, by file name: each with "title", "source", "url" and
    "acceptance"."""
    return {
        path.stem: json.loads(path.read_text(encoding="utf-8"))
        | {"acceptance": read_acceptance(path)}
        for path in sorted(ACCEPTANCE.glob("*.json"))
    }
