"""Measure this machine: the costs of a pair's passes, then predicted against measured speedup of several trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

from ..acceptance.progress import SoFar
from ..acceptance.vectors import find_acceptance
from ..builders import BUILDERS
from ..config import RunConfig
from ..files import HELD_OUT, parse_json
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..planning.forecast import forecast
from ..plots.speed import Point
from ..verifiers import VERIFIERS
from .measure_cost import PROMPT, measure_cost
from .trials import trials

SIZES = (2, 4, 8, 16, 32)


@dataclass(frozen=True)
class MachineMeasurement:
    """What was measured of a pair on this machine.

    Args:
        cost: seconds of passes.
        points: trees with their predicted and measured speedup; empty until the first were timed.
    """

    cost: CostTable
    points: tuple[Point, ...] = ()


def prompts(count: int) -> list[str]:
    """The first `count` held-out prompts, prose and code in turns."""
    kinds = parse_json(HELD_OUT.read_text(encoding="utf-8")).values()
    return list(chain.from_iterable(zip(*kinds, strict=False)))[:count]


def measure_machine(
    pair: Pair, temperature: float = 0.8, sizes: Sequence[int] = SIZES, rounds: int = 6, seconds: float = 40.0
) -> Iterator[SoFar[MachineMeasurement | None]]:
    """Measure costs, predict the best of Sequoia's trees of each size, and time them against plain decoding.

    Args:
        pair: the models.
        temperature: of target and draft.
        sizes: nodes of the trees with the root.
        rounds: prompts, each decoded once with every tree and once without.
        seconds: time limit for the costs.

    Returns:
        Runs done, of how many, and what is known so far. Stop iterating to stop it.

    Raises:
        ValueError: if the pair has no draft, or the models end every text at once.
    """
    config = RunConfig(PROMPT, temperature=temperature, max_new_tokens=64)
    acceptance = find_acceptance("sequoia", temperature, "model", pair.info["name"])
    cost = None
    for news in measure_cost(pair, config, (1, *sizes, 64), seconds=seconds):
        cost = news.known
        yield SoFar(news.done, 2 * news.of, MachineMeasurement(cost) if cost else None)
    assert cost  # or `measure_cost` raises
    cells = [max(filter(None, row), key=lambda cell: cell.speedup) for row in forecast(acceptance, cost, sizes).cells]
    trees = {
        f"{cell.size} nodes, {cell.depth} levels": BUILDERS["sequoia"](
            size=cell.size, depth=cell.depth, acceptance=acceptance
        )
        for cell in cells
    }
    predicted = dict(zip(trees, cells, strict=True))
    for timing in trials(pair, trees, VERIFIERS["sequoia"](), config, prompts(rounds)):
        points = tuple(
            Point(row.name, predicted[row.name].size, predicted[row.name].speedup, row.speedup, row.low, row.high)
            for row in timing.known
        )
        yield SoFar(timing.of + timing.done, 2 * timing.of, MachineMeasurement(cost, points))
