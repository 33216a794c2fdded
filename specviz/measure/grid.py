"""The grid of `bench`: pairs x builders x rules x drafters x temperatures x sizes, as cells,
measured one by one.

A cell and its outcome are plain JSON data, so it makes no difference which process or machine
measures it.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from hashlib import sha256
from itertools import product
from pathlib import Path
from typing import Any

from ..base.errors import ParameterError, UnknownName
from ..base.files import __version__, parse_json, read_text
from ..base.progress import final_result
from ..builders import BUILDERS
from ..config.plugins import load_known, sources
from ..config.run_config import RunConfig, compatible, default_rule
from ..models.base import Pair
from .against_engines import engine_of, side_of
from .machine_profile import machine
from .quiet import Watch
from .results import key_of
from .timing import TimedRun, time_runs

LISTS = {
    "pairs": ["embedded"],
    "temperatures": [RunConfig.temperature],
    "builders": ["all"],
    "verifiers": ["auto"],
    "drafters": ["model"],
    "sizes": [None],
}
NUMBERS = {"max_new_tokens": 64, "seed": 0, "rounds": 1}
ROWS = ("draft_temperature", "top_p", "top_k")  # of `RunConfig`
ENTRIES = (*LISTS, *NUMBERS, *ROWS, "prompts")
LOADING = ("target", "draft", "device", "dtype", "offload", "offload_folder", "chat")
PAIRS = {"embedded": {}, "toy": {"toy": 12}}
# builder -> with its assistant
TRANSFORMERS = {"transformers": False, "transformers-assisted": True}


def read_grid(path: str | Path) -> Any:
    """The data of a TOML or JSON file."""
    kind, parse = (
        ("TOML", tomllib.loads) if Path(path).suffix.lower() == ".toml" else ("JSON", parse_json)
    )
    text = read_text(path, "grid")
    try:
        return parse(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"grid {str(path)!r} is not valid {kind}: {str(error)[:100]}.") from None


def cells_of(grid: Any, prompts: Sequence[str]) -> tuple[list[dict[str, Any]], list[str]]:
    """The cells of a grid, each once and pair by pair, and the prompts that all of them continue.

    The grid has any of `ENTRIES`; what it leaves out has a default. The builder "all" stands for
    the menu, the rule "auto" for the first one that suits.

    Raises:
        ValueError: if an entry is unknown, or a value is none that `RunConfig` takes.
    """
    if not isinstance(grid, dict):
        raise ParameterError("grid", f"be one object with any of {', '.join(ENTRIES)}")
    if unknown := [name for name in grid if name not in ENTRIES]:
        raise UnknownName("entry of the grid", unknown[0], ENTRIES)
    lists = {name: grid.get(name, default) for name, default in LISTS.items()}
    continued = grid.get("prompts", [*prompts])
    for name, values in (*lists.items(), ("prompts", continued)):
        of_texts = name in ("builders", "verifiers", "drafters", "prompts")
        good = isinstance(values, list) and len(values) > 0
        if good and of_texts:
            good = all(isinstance(value, str) and value for value in values)
        if not good:
            raise ParameterError(name, f"be a non-empty list{' of texts' * of_texts}", values)
    shared = {name: grid.get(name, default) for name, default in NUMBERS.items()}
    for name in ROWS:
        if grid.get(name) not in (None, getattr(RunConfig, name)):
            shared[name] = grid[name]
    shared["prompts"] = sha256(json.dumps(continued).encode()).hexdigest()[:12]
    _check_whole("rounds", shared["rounds"], 1, 10**6)
    builders: list[str] = []
    for name in lists["builders"]:
        menu = [other for other, builder in BUILDERS.items() if not builder.autoregressive]
        builders += menu if name == "all" else [name]
    lists["builders"] = builders
    cells = {}
    for pair, temperature, builder, verifier, drafter, size in product(*lists.values()):
        cell = {"pair": _pair(pair), "builder": builder, "temperature": temperature} | shared
        if not is_foreign(builder) and not config_of(cell).builder.autoregressive:
            rule = default_rule(config_of(cell)).name if verifier == "auto" else verifier
            cell["drafter"] = drafter
            cell["verifier"] = rule
            if size is not None:
                _check_whole("sizes", size, 2, 1024)
                cell["size"] = size
        cell["temperature"] = config_of(cell).temperature
        cells[key_of(cell)] = cell
    return list(cells.values()), continued


def is_foreign(builder: Any) -> bool:
    """Whether what stands for a builder is another engine, which decodes by itself."""
    return builder in TRANSFORMERS or (isinstance(builder, str) and engine_of(builder)[0] != "")


def config_of(cell: dict[str, Any]) -> RunConfig:
    """What is run for a cell, apart from its size."""
    names = ("builder", "verifier", "drafter", "temperature", "max_new_tokens", "seed", *ROWS)
    config = RunConfig(
        **{name: cell[name] for name in names if name in cell and not is_foreign(cell[name])}
    )
    return config.autoregressive() if config.builder.autoregressive else config


def _pair(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value in PAIRS:
        return PAIRS[value]
    if (
        isinstance(value, dict)
        and value
        and all(
            k in LOADING and isinstance(v, bool if k == "chat" else str) for k, v in value.items()
        )
    ):
        return value
    raise ParameterError("pairs", f"be embedded, toy or texts under {', '.join(LOADING)}", value)


def _check_whole(name: str, value: Any, low: int, high: int) -> None:
    if type(value) is not int or not low <= value <= high:
        raise ParameterError(name, f"be a whole number from {low} to {high}", value)


def measure_cell(
    cell: dict[str, Any], prompts: Sequence[str], plugins: Sequence[str] = ()
) -> dict[str, Any]:
    """The outcome of one cell: "cell" with its "result", or with why it is "impossible", or how it
    "failed"."""
    load_known(plugins)
    watch = Watch()
    try:
        outcome = _measure(cell, prompts)
    except Exception as error:  # one cell that fails must not end a night's work
        return _failure(cell, error)
    if "result" in outcome:
        outcome["result"] |= {
            "version": __version__,
            "machine": machine(),
            "busy_cores": round(watch.cores, 2),
        }
    return {"cell": cell} | outcome


def _failure(cell: dict[str, Any], error: Exception) -> dict[str, Any]:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return {"cell": cell, "failed": f"{kind}{' '.join(str(error).split())[:300]}"}


def _measure(cell: dict[str, Any], prompts: Sequence[str]) -> dict[str, Any]:
    config, rounds = config_of(cell), cell["rounds"]
    builder = config.builder
    engine, _ = engine_of(cell["builder"])
    if engine:
        from .against_transformers import time_beside

        side = side_of(cell["builder"], cell["pair"])
        rows, settings = time_beside(cell["pair"], engine, side, prompts, config, rounds)
        more = {"settings": settings, "lossless": True}
    elif cell["builder"] in TRANSFORMERS:
        from .against_transformers import time_transformers

        rows, settings = time_transformers(
            cell["pair"], TRANSFORMERS[cell["builder"]], prompts, config, rounds
        )
        more = {"settings": settings, "lossless": True}
    else:
        try:
            if "size" in cell:
                parameters = builder.sized(cell["size"]) | builder.model_dump(exclude_unset=True)
                config = replace(config, builder=builder.replace(**parameters))
            match = compatible(config).required()
        except ValueError as error:
            return {"impossible": str(error)}
        pair = load_cell_pair(key_of(cell["pair"]))
        rows = final_result(time_runs({"tree": (pair, config)}, prompts, rounds))
        more = {
            "dtype": pair.info.get("dtype"),
            "offload": getattr(pair, "offload", None),
            "lossless": match.lossless,
        }
    if not rows:
        raise ValueError(
            "the models end every text at once, so there is no step to time. Use other prompts."
        )
    return {"result": summary(rows[0]) | more}


def summary(row: TimedRun) -> dict[str, Any]:
    """A timed run as plain data; times in milliseconds."""
    counts, plain = row.counts, row.plain
    categories = {category: summary(one) for category, one in row.categories.items()}
    return ({"categories": categories} if categories else {}) | {
        "tokens_per_pass": counts.tokens_per_pass,
        "tokens_margin": row.tokens_margin,
        "speedup": row.speedup,
        "speedup_margin": row.margin,
        "low": row.low,
        "high": row.high,
        "plain_ms": 1000 * plain.seconds_per_token,
        "step_ms": 1000 * counts.seconds_per_step,
        "parts_ms": {part: 1000 * seconds for part, seconds in counts.step_parts.items()},
        "tokens_per_s": counts.tokens_per_s,
        "plain_tokens_per_s": plain.tokens_per_s,
        "nodes": 1 + counts.drafted,
        "draft_passes": counts.draft_passes_per_step,
        "steps": counts.passes,
    }


@lru_cache(maxsize=1)
def load_cell_pair(pair: str) -> Pair:
    """The pair of a cell, kept until another is needed."""
    spec = json.loads(pair)
    if "toy" in spec:
        from ..models.table import toy_pair

        return toy_pair(vocab=spec["toy"])
    from ..models.pair import load_pair

    return load_pair(**{"chat": None} | spec)


def on_ray(
    cells: Sequence[dict], prompts: Sequence[str], address: str, cpus: float = 1, gpus: float = 0
) -> Iterator[dict[str, Any]]:
    """The outcomes of cells in the order in which a Ray cluster finishes them; specviz must be
    installed there."""
    try:
        import ray
    except ImportError:
        raise ValueError(
            '--ray needs ray, which is not installed: pip install "ray>=2.9".'
        ) from None
    try:
        ray.init(address=address)
    except Exception as error:
        raise ValueError(
            f"--ray: no cluster found at {address!r}: {' '.join(str(error).split())[:200]}"
        ) from error
    try:
        task, texts = (
            ray.remote(measure_cell).options(num_cpus=cpus, num_gpus=gpus),
            ray.put(list(prompts)),
        )
        pending = {task.remote(cell, texts, sources()): cell for cell in cells}
        while pending:
            (done, *_), _ = ray.wait(list(pending), num_returns=1)
            cell = pending.pop(done)
            try:
                yield ray.get(done)
            except Exception as error:  # the machine was lost, say
                yield _failure(cell, error)
    finally:
        ray.shutdown()  # what still runs is given up
