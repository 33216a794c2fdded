"""The grid of `bench`: pairs x builders x rules x drafters x temperatures x sizes, checked and expanded to cells.

A cell is plain JSON data, so it makes no difference which process or machine measures it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from ..builders import BUILDERS
from ..compatibility import suited
from ..config import RunConfig
from ..errors import ParameterError
from ..files import parse_json, read_text
from ..strategy import parse_strategy

LISTS = {"pairs": ["embedded"], "builders": ["all"], "verifiers": ["auto"], "drafters": ["model"],
         "temperatures": [0.8], "sizes": [None]}  # fmt: skip
NUMBERS = {"max_new_tokens": (64, 1), "seed": (0, 0), "rounds": (1, 1)}  # default, smallest
ROWS = ("draft_temperature", "top_p", "top_k")  # of `RunConfig`
LOADING = ("target", "draft", "device", "dtype", "offload", "offload_folder")
PAIRS = {"embedded": {}, "toy": {"toy": 12}}
TRANSFORMERS = {"transformers": False, "transformers-assisted": True}  # builder -> with its assistant


def read_grid(path: str | Path) -> Any:
    """The data of a TOML or JSON file."""
    toml = Path(path).suffix.lower() == ".toml"
    text = read_text(path, "grid")
    try:
        return tomllib.loads(text) if toml else parse_json(text)
    except (ValueError, RecursionError) as error:  # of JSON and of TOML
        kind = "TOML" if toml else "JSON"
        raise ValueError(f"grid {str(path)!r} is not valid {kind}: {str(error)[:100]}.") from None


def cells_of(grid: Any, prompts: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The cells of a grid, each once and pair by pair, and the prompts that all of them continue.

    The grid has any of `LISTS`, `NUMBERS`, `ROWS` and "prompts"; what it leaves out has a default. The builder "all"
    stands for the menu, the rule "auto" for the first one that suits.
    """
    if not isinstance(grid, dict):
        raise ValueError(f"grid must be one object with any of {', '.join(LISTS)}.")
    if unknown := [name for name in grid if name not in (*LISTS, *NUMBERS, *ROWS, "prompts")]:
        known = ", ".join((*LISTS, *NUMBERS, *ROWS, "prompts"))
        raise ValueError(f"grid has an unknown entry {unknown[0]!r}. Entries: {known}.")
    prompts = grid.get("prompts", list(prompts))
    if not (isinstance(prompts, list) and prompts and all(isinstance(text, str) and text for text in prompts)):
        raise ValueError("grid.prompts must be a non-empty list of non-empty texts.")
    checks: dict[str, Callable[[Any], Any]] = {
        "pairs": _pair, "sizes": _size, "temperatures": lambda value: float(RunConfig(temperature=value).temperature),
        "builders": partial(_strategy, "builder", ("all", *TRANSFORMERS)),
        "verifiers": partial(_strategy, "verifier", ("auto",)), "drafters": partial(_strategy, "drafter", ()),
    }  # fmt: skip
    lists = {}
    for name, check in checks.items():
        values = grid.get(name, LISTS[name])
        if not (isinstance(values, list) and values):
            raise ValueError(f"grid.{name} must be a non-empty list; got {values!r:.60}.")
        lists[name] = [check(value) for value in values]
    menu = [name for name, cls in BUILDERS.items() if not cls.alone]
    lists["builders"] = [one for name in lists["builders"] for one in (menu if name == "all" else [name])]
    shared: dict[str, Any] = {name: grid.get(name, default) for name, (default, _) in NUMBERS.items()}
    for name, (_, low) in NUMBERS.items():
        if type(shared[name]) is not int or not low <= shared[name] <= 10**6:
            raise ValueError(f"{name} must be a whole number from {low} to {10**6}; got {shared[name]!r:.60}.")
    shared |= {name: grid[name] for name in ROWS if grid.get(name) is not None}
    RunConfig(**{name: shared[name] for name in ROWS if name in shared})  # raises on a bad one
    shared["prompts"] = sha256(json.dumps(prompts).encode()).hexdigest()[:12]
    cells = {}
    for pair, temperature, builder, verifier, drafter, size in product(
        *(lists[name] for name in ("pairs", "temperatures", "builders", "verifiers", "drafters", "sizes"))
    ):
        cell = {"pair": pair, "builder": builder, "temperature": temperature} | shared
        if builder not in TRANSFORMERS and not parse_strategy("builder", builder).alone:
            if verifier == "auto":
                verifier = suited(RunConfig(builder=builder, temperature=temperature, drafter=drafter))
            cell |= {"verifier": verifier, "drafter": drafter} | ({"size": size} if size else {})
        cells[key_of(cell)] = cell
    return list(cells.values()), prompts


def key_of(cell: dict[str, Any]) -> str:
    """What tells a cell from all others."""
    return json.dumps(cell, sort_keys=True)


def _pair(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value in PAIRS:
        return PAIRS[value]
    good = isinstance(value, dict) and value and all(k in LOADING and isinstance(v, str) for k, v in value.items())
    if not good:
        raise ValueError(
            f"grid.pairs must contain embedded, toy or texts under {', '.join(LOADING)}; got {value!r:.60}."
        )
    return value


def _strategy(kind: str, others: Sequence[str], value: Any) -> str:
    try:
        if value in others:
            return value
        if not isinstance(value, str):
            raise ParameterError(kind, "be written like sequoia:size=16,depth=6", value)
        parse_strategy(kind, value)
    except ValueError as error:
        raise ValueError(f"grid.{kind}s: {error}") from None
    return value.strip()


def _size(value: Any) -> int | None:
    if value is not None and (type(value) is not int or not 2 <= value <= 1024):
        raise ValueError(f"sizes must be whole numbers from 2 to 1024; got {value!r:.60}.")
    return value
