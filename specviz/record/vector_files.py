"""Acceptance vectors in files: of `calibrate`, of papers, and those that travel with a
checkpoint."""

from __future__ import annotations

from pathlib import Path

from ..base import codec
from ..base.codec import JsonObject
from ..base.files import ACCEPTANCE, parse_json, read_text
from .chain_rates import PROFILE, read_rates
from .vectors import AcceptanceVector, find_vector

MAX_BYTES = 4_000_000  # bytes


def read_vector(
    path: str | Path, verifier: str | None = None, temperature: float | None = None
) -> AcceptanceVector:
    """The vector in a JSON file: {"acceptance": [...]}, "levels" with one per level, a profile
    from `calibrate`, or an acceptance profile as it travels with a checkpoint.

    Of a profile it is the one for a rule at the nearest temperature, see `find_vector`, or the
    first.
    """
    text = read_text(path, "acceptance file", MAX_BYTES)
    return vector_in(text, f"acceptance file {str(path)!r}", verifier, temperature)


def vector_in(
    text: str, name: str, verifier: str | None = None, temperature: float | None = None
) -> AcceptanceVector:
    """The vector in the text of a file, which messages call `name`; the rest as above."""
    try:
        data = parse_json(text)
    except ValueError:
        raise ValueError(f'{name} must contain JSON like {{"acceptance": [0.6, 0.2]}}.') from None
    if not isinstance(data, dict):
        raise ValueError(f'{name} must contain an object with a list "acceptance".')
    if data.keys() & PROFILE:
        return vector_of_rates(data, name)
    if isinstance(rows := data.get("vectors"), list):
        vectors = codec.read(tuple[AcceptanceVector, ...], rows, f"{name}.vectors")
        if vectors:
            # Of a rule and temperature that nobody named, those of the first vector.
            nearest = vectors[0].temperature or 0.0 if temperature is None else temperature
            return find_vector(vectors, verifier or vectors[0].verifier, nearest)
    if "acceptance" not in data:
        raise ValueError(f'{name} must contain an object with a list "acceptance".')
    # Either entry may hold one vector for each level.
    plan = data.get("levels") or data["acceptance"]
    if isinstance(plan, list) and plan and isinstance(plan[0], list):
        data = data | {"acceptance": plan[0], "levels": plan}
    return codec.read(AcceptanceVector, data, name)


def vector_of_rates(data: JsonObject, where: str) -> AcceptanceVector:
    """The vector that follows from an acceptance profile: of first children alone, 0 below the
    positions that were measured.

    Raises:
        ValueError: if it has no rates.
    """
    rates = read_rates(data, where)
    if rates is None:
        raise ValueError(f"{where} has no acceptance rates: it was not measured. Use another.")
    levels = tuple((rate,) for rate in (*rates, 0.0))
    return AcceptanceVector(levels[0], levels)


def mismatch(path: str | Path, settings: JsonObject) -> str:
    """A sentence where the vector in a file was measured with other settings, as far as it has
    them; else ""."""
    vector = read_vector(path, settings.get("verifier"), settings.get("temperature"))
    other = []
    for name, value in settings.items():
        measured = getattr(vector, name)
        if None not in (value, measured) and measured not in ("", {}, value):
            other.append(f"{name} {measured!s:.80}, not {value!s:.80}")
    if not other:
        return ""
    return f"the vector in {str(path)!r} was measured with {'; '.join(other)}"


def published() -> dict[str, AcceptanceVector]:
    """The vectors printed in papers, by file name."""
    return {path.stem: read_vector(path) for path in sorted(ACCEPTANCE.glob("*.json"))}
