"""What the figures of costs and speedups draw, measured on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..base.progress import Progress
from ..builders import BUILDERS
from ..config.run_config import RunConfig
from ..measure.cost_table import CostTable
from ..measure.forecast import forecast
from ..measure.this_machine import PROMPT, measure_cost, prompts
from ..measure.timing import time_runs
from ..models.base import Pair
from ..record.vectors import find_acceptance


class Point(NamedTuple):
    """A timed tree: its place on an axis (nodes with the root, or a temperature), its speedups, the
    measured range."""

    name: str
    size: float
    predicted: float
    measured: float
    low: float
    high: float


class MachineMeasurement(NamedTuple):
    """The cost of a pair's passes, and trees with their predicted and measured speedup once they
    were timed."""

    cost: CostTable
    points: tuple[Point, ...] = ()


def measure_machine(
    pair: Pair,
    temperature: float = 0.8,
    sizes: Sequence[int] = (2, 4, 8, 16, 32),
    rounds: int = 6,
    seconds: float = 40.0,
) -> Iterator[Progress[MachineMeasurement | None]]:
    """Measure costs, predict the best of Sequoia's trees of each size, and time them against plain
    decoding.

    Args:
        pair: the models.
        temperature: of target and draft.
        sizes: nodes of the trees with the root.
        rounds: prompts, each decoded once with every tree and once without.
        seconds: time limit for the costs.
    """
    rule = "exact-match" if temperature == 0 else "sequoia"
    config = RunConfig(PROMPT, verifier=rule, temperature=temperature, max_new_tokens=64)
    acceptance = find_acceptance(rule, temperature, "model", pair.info["name"])
    cost = None
    for update in measure_cost(pair, config, (1, *sizes, 64), seconds=seconds):
        cost = update.result
        yield Progress(
            update.done, 2 * update.total, update.stage, MachineMeasurement(cost) if cost else None
        )
    assert cost  # or `measure_cost` raises
    # Each size with the depth that is predicted to be fastest.
    cells = [
        max(filter(None, row), key=lambda cell: cell.speedup)
        for row in forecast(acceptance, cost, sizes).cells
    ]
    runs = {}
    for cell in cells:
        tree = BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=acceptance)
        runs[f"{cell.size} nodes, {cell.depth} levels"] = pair, replace(config, builder=tree)
    for timing in time_runs(runs, prompts(rounds), whole=True):
        points = tuple(
            Point(row.name, cell.size, cell.speedup, row.speedup, row.low, row.high)
            for cell, row in zip(cells, timing.result, strict=False)
        )
        yield Progress(
            timing.total + timing.done,
            2 * timing.total,
            "timing trees",
            MachineMeasurement(cost, points),
        )
