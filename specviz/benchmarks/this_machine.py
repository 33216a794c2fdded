"""Measure this machine: the costs of a pair's passes, then predicted against measured speedup of several trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from time import perf_counter, time
from typing import NamedTuple

from ..acceptance.vectors import EMBEDDED, RunningAcceptance, find_acceptance
from ..builders import BUILDERS
from ..builders.sequoia import Sequoia
from ..config import RunConfig
from ..decode import speculate
from ..files import HELD_OUT, parse_json
from ..metrics import Counts
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..planning.forecast import forecast
from ..planning.machine_profile import MachineProfile, about, find_profile, store_profile
from ..progress import Progress
from ..tree import Topology
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


def prompts(count: int) -> list[str]:
    """The first `count` held-out prompts, prose and code in turns."""
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

    Returns:
        Runs done, of how many, and what is known so far. Stop iterating to stop it.

    Raises:
        ValueError: if the pair has no draft, or the models end every text at once.
    """
    rule = "exact-match" if temperature == 0 else "sequoia"
    config = RunConfig(PROMPT, verifier=rule, temperature=temperature, max_new_tokens=64)
    acceptance = find_acceptance(rule, temperature, "model", pair.info["name"])
    cost = None
    for update in measure_cost(pair, config, (1, *sizes, 64), seconds=seconds):
        cost = update.result
        yield Progress(update.done, 2 * update.total, update.stage, None if cost is None else MachineMeasurement(cost))
    assert cost  # or `measure_cost` raises
    cells = [max(filter(None, row), key=lambda cell: cell.speedup) for row in forecast(acceptance, cost, sizes).cells]
    trees = {
        f"{cell.size} nodes, {cell.depth} levels": BUILDERS["sequoia"](
            size=cell.size, depth=cell.depth, acceptance=acceptance
        )
        for cell in cells
    }
    predicted = dict(zip(trees, cells, strict=True))
    runs = {name: (pair, replace(config, builder=builder)) for name, builder in trees.items()}
    for timing in time_runs(runs, prompts(rounds), whole=True):
        points = tuple(
            Point(row.name, predicted[row.name].size, predicted[row.name].speedup, row.speedup, row.low, row.high)
            for row in timing.result
        )
        yield Progress(timing.total + timing.done, 2 * timing.total, "timing trees", MachineMeasurement(cost, points))


PROFILE_SIZES = (1, 2, 4, 8, 12, 16, 24, 32, 64)
SECONDS = 5.0  # for the costs, and as much again for the acceptance of a pair that has no stored vectors
COUNTED = (("sequoia", 0.8), ("exact-match", 0.0))  # the rule and temperature of those
STEPS = 100  # that are counted at most
PROBE = 12  # plain steps that check a stored profile


def measure_profile(
    pair: Pair, known: MachineProfile | None = None, seconds: float = SECONDS
) -> Iterator[MachineProfile | None]:
    """Measure a pair, in parts of some steps each: None after every part, at the end its profile, which is stored.

    A recent profile is returned as it is, unless plain decoding is now many times as fast: the machine was busy then.

    Args:
        pair: the models.
        known: its stored profile; None to look it up.
        seconds: about how long.

    Raises:
        ValueError: if the pair has no draft, or ends every text at once.
    """
    known = known or find_profile(pair.info)
    if known is not None and not known.old(time()):
        counts = Counts.of(islice(speculate(pair, RunConfig(PROMPT).autoregressive()), PROBE))
        yield None
        if not known.contradicts(counts.seconds_per_step):
            yield known
            return
    table = None
    for progress in measure_cost(pair, RunConfig(PROMPT), PROFILE_SIZES, rounds=4, seconds=seconds):
        table = progress.result or table
        yield None
    assert table  # or `measure_cost` raises
    vectors = []
    if pair.info.get("name") != EMBEDDED:
        for verifier, temperature in COUNTED:
            vector = find_acceptance(verifier, temperature)
            for vector in _counting(pair, verifier, temperature, seconds / 2):  # noqa: B007  the last one counts
                yield None
            most = max(1.0, sum(vector))  # ranks are counted apart, and a stored rank weighs more where few were seen
            vectors.append((temperature, tuple(share / most for share in vector)))
    known = MachineProfile(about(pair.info), table, tuple(vectors), time())
    store_profile(known)
    yield known


def _counting(pair: Pair, verifier: str, temperature: float, seconds: float) -> Iterator[tuple[float, ...]]:
    """The acceptance vector as the pair's own text shows it step by step; at first it is the embedded pair's."""
    began = perf_counter()
    prior = find_acceptance(verifier, temperature)
    counted = RunningAcceptance.begin(prior)
    wide = Sequoia(size=24, depth=4, acceptance=prior)
    config = RunConfig(PROMPT, wide, verifier, temperature, max_new_tokens=pair.max_positions)
    for seed in range(8):
        for step in speculate(pair, replace(config, seed=seed)):
            counted = counted.learn(Topology(step.parents).children, step.path)
            yield counted.vector
            if perf_counter() - began > seconds or counted.steps >= STEPS:
                return
