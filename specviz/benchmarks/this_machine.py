"""Measure this machine: the costs of a pair's passes, then predicted against measured speedup of several trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

from .. import BUILDERS, RunConfig
from ..acceptance.progress import Progress
from ..acceptance.vectors import find_acceptance
from ..files import HELD_OUT, parse_json
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..planning.forecast import forecast
from .measure_cost import PROMPT, measure_cost
from .timing import time_runs

SIZES = (2, 4, 8, 16, 32)


class Point(NamedTuple):
    """One timed configuration.

    Args:
        name: of the tree.
        size: its place on the axis, nodes with the root or a temperature.
        predicted, measured: speedup over plain decoding.
        low, high: interval of the measured speedup.
    """

    name: str
    size: float
    predicted: float
    measured: float
    low: float
    high: float


@dataclass(frozen=True)
class MachineMeasurement:
    """What was measured of a pair on this machine.

    Args:
        cost: seconds of passes.
        points: trees with their predicted and measured speedup; empty until the first were timed.
    """

    cost: CostTable
    points: tuple[Point, ...] = ()


def prompts(count: int | None = None) -> list[str]:
    """The first `count` prompts, or all, that no training text holds: prose and code in turns."""
    kinds = parse_json(HELD_OUT.read_text(encoding="utf-8")).values()
    return list(chain.from_iterable(zip(*kinds, strict=False)))[:count]


def measure_machine(
    pair: Pair, temperature: float = 0.8, sizes: Sequence[int] = SIZES, rounds: int = 6, seconds: float = 40.0
) -> Iterator[Progress[MachineMeasurement | None]]:
    """Measure costs, predict the best of Sequoia's trees of each size, and time them against plain decoding.

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
        yield Progress(update.done, 2 * update.total, update.stage, MachineMeasurement(cost) if cost else None)
    assert cost  # or `measure_cost` raises
    cells = [max(filter(None, row), key=lambda cell: cell.speedup) for row in forecast(acceptance, cost, sizes).cells]
    trees = {f"{cell.size} nodes, {cell.depth} levels": cell for cell in cells}
    runs = {}
    for name, cell in trees.items():
        builder = BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=acceptance)
        runs[name] = pair, replace(config, builder=builder)
    for timing in time_runs(runs, prompts(rounds), whole=True):
        points = tuple(
            Point(row.name, trees[row.name].size, trees[row.name].speedup, row.speedup, row.low, row.high)
            for row in timing.result
        )
        yield Progress(timing.total + timing.done, 2 * timing.total, "timing trees", MachineMeasurement(cost, points))
