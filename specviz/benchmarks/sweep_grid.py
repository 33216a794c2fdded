"""The grid of a sweep: read from a file, checked and expanded to cells of plain data."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from ..config import RunConfig
from ..errors import ParameterError
from ..files import parse_json, read_text
from ..strategy import parse_strategy

KINDS = ("bench", "calibrate")
LISTS = {"pairs": ["embedded"], "builders": ["sequoia"], "verifiers": ["sequoia"], "drafters": ["model"],
         "temperatures": [0.8], "sizes": [None], "kinds": ["bench"]}  # fmt: skip
NUMBERS = {"max_new_tokens": 64, "seed": 0, "width": 16}
LOADING = ("target", "draft", "device", "dtype")
NAMED = {"embedded": {}, "toy": {"toy": 12}}


def read_grid(path: str | Path) -> Any:
    """The data of a JSON or TOML file.

    Raises:
        ValueError: if it cannot be read.
    """
    toml = Path(path).suffix.lower() == ".toml"
    text = read_text(path, "sweep")
    try:
        return tomllib.loads(text) if toml else parse_json(text)
    except (ValueError, RecursionError) as error:  # of JSON and of TOML
        kind = "TOML" if toml else "JSON"
        raise ValueError(f"sweep {str(path)!r} is not valid {kind}: {str(error)[:100]}.") from None


def cells_of(grid: Any, prompts: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The cells of a grid, each once and pair by pair, and the prompts that all of them continue.

    Args:
        grid: what a sweep's file holds: any of `LISTS`, `NUMBERS` and "prompts"; what is left out has a default.
        prompts: used where the grid has none.

    Raises:
        ValueError: if it holds anything unknown or of the wrong kind; the message names it.
    """
    if not isinstance(grid, dict):
        raise ValueError(
            "sweep must contain one object with pairs, builders, verifiers, drafters, temperatures and sizes."
        )
    known = [*LISTS, *NUMBERS, "prompts"]
    if unknown := [name for name in grid if name not in known]:
        raise ValueError(f"sweep has an unknown entry {unknown[0]!r}. Entries: {', '.join(known)}.")
    prompts = grid.get("prompts", list(prompts))
    if not (isinstance(prompts, list) and prompts and all(isinstance(text, str) and text for text in prompts)):
        raise ValueError("sweep.prompts must be a non-empty list of non-empty texts.")
    lists = {name: _listed(name, grid.get(name, default)) for name, default in LISTS.items()}
    numbers = {name: _number(name, grid.get(name, default)) for name, default in NUMBERS.items()}
    read: dict[str, Callable[[Any], Any]] = {
        "pairs": _pair,
        "builders": partial(_strategy, "builder"),
        "verifiers": partial(_strategy, "verifier"),
        "drafters": partial(_strategy, "drafter"),
        "temperatures": _temperature,
        "sizes": _size,
    }
    pairs, builders, verifiers, drafters, temperatures, sizes = (
        [check(value) for value in lists[name]] for name, check in read.items()
    )
    if bad := [kind for kind in lists["kinds"] if kind not in KINDS]:
        raise ValueError(f"sweep.kinds must be of {', '.join(KINDS)}; got {bad[0]!r}.")
    common = numbers | {"prompts": sha256(json.dumps(prompts).encode()).hexdigest()[:12]}
    cells = {}
    for pair, kind, heat, builder, verifier, drafter, size in product(
        pairs, lists["kinds"], temperatures, builders, verifiers, drafters, sizes
    ):  # fmt: skip
        cell: dict[str, Any] = {"kind": kind, "pair": pair, "temperature": heat} | common
        if kind == "calibrate":  # the same whatever the tree
            cell |= {"verifier": verifier, "drafter": drafter}
        elif parse_strategy("builder", builder).alone:  # no rule and no size concern plain decoding
            cell |= {"builder": builder, "verifier": "plain", "size": None}
        else:
            cell |= {"builder": builder, "verifier": verifier, "drafter": drafter, "size": size}
        cells[key_of(cell)] = cell
    return list(cells.values()), prompts


def key_of(cell: dict[str, Any]) -> str:
    """What tells a cell from all others."""
    return json.dumps(cell, sort_keys=True)


def _listed(name: str, value: Any) -> list:
    if not (isinstance(value, list) and value):
        raise ValueError(f"sweep.{name} must be a non-empty list; got {value!r:.60}.")
    return value


def _number(name: str, value: Any) -> int:
    low = 0 if name == "seed" else 1
    if type(value) is not int or not low <= value <= 10**6:
        raise ValueError(f"sweep.{name} must be a whole number from {low} to {10**6}; got {value!r:.60}.")
    return value


def _pair(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value in NAMED:
        return NAMED[value]
    good = isinstance(value, dict) and value and all(k in LOADING and isinstance(v, str) for k, v in value.items())
    if not good:
        raise ValueError(
            f"sweep.pairs must contain embedded, toy or texts under {', '.join(LOADING)}; got {value!r:.60}."
        )
    return value


def _strategy(kind: str, value: Any) -> str:
    try:
        if not isinstance(value, str):
            raise ParameterError(kind, "be written like sequoia:size=16,depth=6", value)
        parse_strategy(kind, value)
    except ValueError as error:
        raise ValueError(f"sweep.{kind}s: {error}") from None
    return value.strip()


def _temperature(value: Any) -> float:
    try:
        return float(RunConfig(temperature=value).temperature)
    except ValueError as error:
        raise ValueError(f"sweep.temperatures: {error}") from None


def _size(value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 2 <= value <= 1024):
        raise ValueError(f"sweep.sizes must be whole numbers from 2 to 1024; got {value!r:.60}.")
    return value
