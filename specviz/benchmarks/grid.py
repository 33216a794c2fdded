"""The grid of `bench`: pairs x builders x rules x drafters x temperatures x sizes, checked and expanded to cells.

A cell is plain JSON data, so it makes no difference which process or machine measures it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from .. import BUILDERS, RunConfig
from ..compatibility import suited
from ..errors import ParameterError, UnknownName
from ..files import parse_json, read_text

LISTS = {"pairs": ["embedded"], "temperatures": [0.8], "builders": ["all"], "verifiers": ["auto"],
         "drafters": ["model"], "sizes": [None]}  # fmt: skip
NUMBERS = {"max_new_tokens": 64, "seed": 0, "rounds": 1}
ROWS = ("draft_temperature", "top_p", "top_k")  # of `RunConfig`
ENTRIES = (*LISTS, *NUMBERS, *ROWS, "prompts")
LOADING = ("target", "draft", "device", "dtype", "offload", "offload_folder")
PAIRS = {"embedded": {}, "toy": {"toy": 12}}
TRANSFORMERS = {"transformers": False, "transformers-assisted": True}  # builder -> with its assistant


def read_grid(path: str | Path) -> Any:
    """The data of a TOML or JSON file."""
    kind, parse = ("TOML", tomllib.loads) if Path(path).suffix.lower() == ".toml" else ("JSON", parse_json)
    text = read_text(path, "grid")
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"grid {str(path)!r} is not valid {kind}: {str(error)[:100]}.") from None


def cells_of(grid: Any, prompts: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The cells of a grid, each once and pair by pair, and the prompts that all of them continue.

    The grid has any of `ENTRIES`; what it leaves out has a default. The builder "all" stands for the menu, the rule
    "auto" for the first one that suits.

    Raises:
        ValueError: if an entry is unknown, or a value is none that `RunConfig` takes.
    """
    if not isinstance(grid, dict):
        raise ParameterError("grid", f"be one object with any of {', '.join(ENTRIES)}")
    if unknown := [name for name in grid if name not in ENTRIES]:
        raise UnknownName("entry of the grid", unknown[0], ENTRIES)
    lists = {name: grid.get(name, default) for name, default in (LISTS | {"prompts": [*prompts]}).items()}
    for name, values in lists.items():
        texts = name in ("builders", "verifiers", "drafters", "prompts")
        if not (isinstance(values, list) and values and all(isinstance(one, str) and one for one in values if texts)):
            raise ParameterError(name, f"be a non-empty list{' of texts' * texts}", values)
    continued: list[str] = lists.pop("prompts")
    shared = {name: grid.get(name, default) for name, default in NUMBERS.items()}
    shared |= {name: grid[name] for name in ROWS if grid.get(name) is not None}
    shared["prompts"] = sha256(json.dumps(continued).encode()).hexdigest()[:12]
    _check_whole("rounds", shared["rounds"], 1, 10**6)
    menu = [name for name, builder in BUILDERS.items() if not builder.alone]
    lists["builders"] = [one for name in lists["builders"] for one in (menu if name == "all" else [name])]
    cells = {}
    for pair, temperature, builder, verifier, drafter, size in product(*lists.values()):
        cell = {"pair": _pair(pair), "builder": builder, "temperature": temperature} | shared
        if builder not in TRANSFORMERS and not config_of(cell).builder.alone:
            cell["drafter"] = drafter
            cell["verifier"] = suited(config_of(cell)) if verifier == "auto" else verifier
            if size is not None:
                _check_whole("sizes", size, 2, 1024)
                cell["size"] = size
        cell["temperature"] = config_of(cell).temperature
        cells[key_of(cell)] = cell
    return list(cells.values()), continued


def config_of(cell: dict[str, Any]) -> RunConfig:
    """What is run for a cell; its size is left to `cells.sized`."""
    names = ("builder", "verifier", "drafter", "temperature", "max_new_tokens", "seed", *ROWS)
    config = RunConfig(**{name: cell[name] for name in names if cell.get(name, "transformers") not in TRANSFORMERS})
    return config.autoregressive() if config.builder.alone else config


def key_of(cell: dict[str, Any]) -> str:
    """What tells a cell from all others."""
    return json.dumps(cell, sort_keys=True)


def _pair(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value in PAIRS:
        return PAIRS[value]
    if isinstance(value, dict) and value and all(k in LOADING and isinstance(v, str) for k, v in value.items()):
        return value
    raise ParameterError("pairs", f"be embedded, toy or texts under {', '.join(LOADING)}", value)


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(name, f"be a whole number from {low} to {high}", value)
