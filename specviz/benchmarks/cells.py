"""Measure the cells of a grid, here or on a Ray cluster."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

from .. import compatible
from ..acceptance.progress import final_result
from ..builders.base import TreeBuilder
from ..files import __version__
from ..metrics import known
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..plugins.load import load_known
from ..plugins.load import sources as plugins_loaded
from ..strategy import parse_strategy, split_strategy
from .grid import TRANSFORMERS, config_of, key_of
from .quiet import Watch
from .timing import TimedRun, time_runs


def measure_cell(cell: dict[str, Any], prompts: Sequence[str], plugins: Sequence[str] = ()) -> dict[str, Any]:
    """The outcome of one cell: "cell" with its "result", or with why it is "impossible", or how it "failed"."""
    load_known(plugins)
    watch = Watch()
    try:
        outcome = _measure(cell, prompts)
    except Exception as error:  # one cell that fails must not end a night's work
        return _failure(cell, error)
    if "result" in outcome:
        about = {"version": __version__, "machine": list(machine()), "busy_cores": round(watch.cores, 2)}
        outcome["result"] |= about
    return {"cell": cell} | outcome


def _failure(cell: dict[str, Any], error: Exception) -> dict[str, Any]:
    kind = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return {"cell": cell, "failed": f"{kind}{' '.join(str(error).split())[:300]}"}


def _measure(cell: dict[str, Any], prompts: Sequence[str]) -> dict[str, Any]:
    config = config_of(cell)
    if cell["builder"] in TRANSFORMERS:
        from .against_transformers import time_transformers

        row, settings = time_transformers(cell["pair"], TRANSFORMERS[cell["builder"]], prompts, config, cell["rounds"])
        return {"result": summary(row) | {"settings": settings, "lossless": True}}
    try:
        config = replace(config, builder=sized(cell["builder"], cell.get("size")))
        match = compatible(config).required()
    except ValueError as error:
        return {"impossible": str(error)}
    pair = load_cell_pair(key_of(cell["pair"]))
    rows = final_result(time_runs({"tree": (pair, config)}, prompts, cell["rounds"]))
    if not rows:
        raise ValueError("the models end every text at once, so there is no step to time. Use other prompts.")
    threads = getattr(getattr(getattr(pair, "target", None), "threads", None), "count", None)
    settings = {"dtype": pair.info.get("dtype"), "threads": threads, "offload": getattr(pair, "offload", None)}
    return {"result": summary(rows[0]) | settings | {"lossless": match.lossless}}


def summary(row: TimedRun) -> dict[str, Any]:
    """A timed run as plain data; times in milliseconds."""
    counts, plain = row.counts, row.plain
    return {
        "tokens_per_pass": known(counts.tokens_per_pass), "tokens_margin": row.tokens_margin,
        "speedup": row.speedup, "speedup_margin": row.margin, "low": row.low, "high": row.high,
        "plain_ms": 1000 * plain.seconds_per_token, "step_ms": 1000 * counts.seconds_per_step,
        "parts_ms": {part: 1000 * seconds for part, seconds in counts.step_parts.items()},
        "tokens_per_s": counts.tokens_per_s, "plain_tokens_per_s": plain.tokens_per_s,
        "nodes": known(1 + counts.drafted), "draft_passes": known(counts.draft_passes_per_step),
        "steps": counts.passes,
    }  # fmt: skip


def sized(text: str, size: int | None) -> TreeBuilder:
    """A builder with trees of about `size` nodes, its root included; parameters in its text override the size."""
    builder, (_, own) = parse_strategy("builder", text), split_strategy("builder", text)
    parameters = {} if size is None else builder.sized(size)
    return builder.replace(**{name: value for name, value in parameters.items() if name not in own})


@lru_cache(maxsize=1)
def load_cell_pair(pair: str) -> Pair:
    """The pair of a cell, kept until another is needed."""
    spec = json.loads(pair)
    if "toy" in spec:
        from ..models.table import toy_pair

        return toy_pair(vocab=spec["toy"])
    from ..models.pair import load_pair

    return load_pair(**spec)


def on_ray(
    cells: Sequence[dict], prompts: Sequence[str], address: str, cpus: float = 1, gpus: float = 0
) -> Iterator[dict[str, Any]]:
    """The outcomes of cells in the order in which a Ray cluster finishes them; specviz must be installed there."""
    try:
        import ray
    except ImportError:
        raise ValueError('--ray needs ray, which is not installed: pip install "ray>=2.9".') from None
    try:
        ray.init(address=address)
    except Exception as error:
        raise ValueError(f"--ray: no cluster found at {address!r}: {' '.join(str(error).split())[:200]}") from error
    try:
        task, texts = ray.remote(measure_cell).options(num_cpus=cpus, num_gpus=gpus), ray.put(list(prompts))
        pending = {task.remote(cell, texts, plugins_loaded()): cell for cell in cells}
        while pending:
            (done, *_), _ = ray.wait(list(pending), num_returns=1)
            cell = pending.pop(done)
            try:
                yield ray.get(done)
            except Exception as error:  # the machine was lost, say
                yield _failure(cell, error)
    finally:
        ray.shutdown()  # what still runs is given up
