"""The measurements of the entries as files, one each: what the page shows at once and a command makes anew."""

from __future__ import annotations

import json
from functools import lru_cache
from hashlib import sha256
from os import cpu_count
from pathlib import Path
from typing import Any

from ..codec import plain
from ..paths import PAIR, PAPERS


def path(source: str, name: str) -> Path:
    """The file of an entry."""
    return PAPERS / f"{source}-{name}.json"


def read(source: str, name: str) -> dict[str, Any] | None:
    """What was measured for an entry: "data", and the "pair" and "machine" it was measured with; None before that."""
    try:
        return json.loads(path(source, name).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None


def write(source: str, name: str, data: dict[str, Any], pair: str) -> None:
    """Store a measurement."""
    PAPERS.mkdir(parents=True, exist_ok=True)
    kept = {"pair": pair, "machine": machine(), "weights": weights(), "data": plain(data)}
    path(source, name).write_text(json.dumps(kept, allow_nan=False) + "\n", encoding="utf-8")


def current(source: str, name: str) -> bool:
    """Whether an entry was measured with the weights that are shipped now."""
    kept = read(source, name)
    return kept is not None and kept.get("weights") == weights()


def machine() -> str:
    return f"a machine of {cpu_count()} cores"


@lru_cache
def weights() -> str:
    """A short mark of the embedded pair's weights: their files' names, sizes and first bytes."""
    mark = sha256()
    for file in sorted(PAIR.rglob("*.safetensors")):
        with file.open("rb") as opened:
            mark.update(f"{file.relative_to(PAIR)} {file.stat().st_size}".encode() + opened.read(1 << 20))
    return mark.hexdigest()[:12]
