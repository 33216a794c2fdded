"""Measure the cost of a step on this machine, and trees with their predicted and timed speedup.

Costs come from the loop itself, run on trees of increasing size, so caches are as warm and as cold
as in a real run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, count, islice
from math import ceil, log2
from time import perf_counter
from typing import NamedTuple

import numpy as np

from ..base.files import HELD_OUT, QUESTIONS, parse_json
from ..base.progress import Progress
from ..builders import BUILDERS
from ..config.run_config import RunConfig
from ..decode import speculate
from ..drafters.base import Drafter, DrafterContext, DrafterSession
from ..models.base import Pair
from ..record.step import Step
from ..record.vectors import find_acceptance
from ..sampling.distributions import Sampling
from ..tree import TokenTree
from .cost_fit import Pass, fit_costs
from .cost_table import CostTable
from .forecast import forecast
from .quiet import Watch
from .timing import interleave, time_runs

PROMPT = (
    "Once upon a time there was an old man who lived with his three sons in a small house "
    "at the edge of a great "
    "forest. One winter, when the snow lay deep and there was no bread left, he called them "
    "to him and said"
)


def measure_cost(
    pair: Pair,
    config: RunConfig | None = None,
    sizes: Sequence[int] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768),
    rounds: int = 3,
    burst: int = 4,
    seconds: float = 45.0,
) -> Iterator[Progress[CostTable | None]]:
    """Measure this machine; stop iterating to stop it.

    Every size is run in bursts of a few steps, whose first is not counted, and the bursts take
    turns. Medians are reported. Sizes that the pair cannot fill are left out.

    Args:
        pair: the models.
        config: temperature, rule, drafter, prompt; its builder and its length are not used.
        sizes: nodes of the trees, 1 for plain decoding.
        rounds: how many bursts each size gets.
        burst: how many steps a burst counts.
        seconds: no burst begins later than this, so large trees are left out where the models are
            slow.

    Returns:
        Bursts done, of how many, and the table so far; None until there is one.

    Raises:
        ValueError: if the pair has not what the drafter takes, or the models end every text at
            once.

    >>> pair, config = specviz.toy_pair(), specviz.RunConfig("ab")
    >>> *_, last = measure_cost(pair, config, sizes=(1, 4), rounds=1, burst=1)
    >>> last.result.sizes
    (1, 4)
    """
    began = perf_counter()
    watch = Watch()
    table = None
    config = replace(config or RunConfig(PROMPT), max_new_tokens=pair.max_positions)
    config = config.for_pair(pair)
    drafter = config.drafter.name
    if drafter == "model" and pair.open(pair.encode("a") or [0])[1] is None:
        raise ValueError("the pair must have a draft to measure its cost. Choose another drafter.")
    acceptance = find_acceptance(
        config.verifier.name, config.temperature, drafter, pair.info["name"]
    )
    plain = _Run(pair, config.autoregressive())
    runs = [plain]
    for size in sorted(set(sizes) - {1}):
        levels = ceil(log2(size))
        # Two depths of one size tell the cost of a level from that of a node.
        for depth in sorted({min(size - 1, levels), min(size - 1, 2 * levels, 16)}):
            tree = BUILDERS["sequoia"](size=size, depth=depth, acceptance=acceptance)
            runs.append(_Run(pair, replace(config, builder=tree)))
    settings = {
        "pair": pair.info.get("name", ""),
        "drafter": drafter,
        "verifier": config.verifier.name,
        "temperature": config.temperature,
        "offload": pair.info.get("offload"),
    }
    bursts = {place: partial(run.burst, burst) for place, run in enumerate(runs)}
    # Bursts take turns, so that all shapes see the same machine.
    for done, _ in enumerate(interleave(bursts, rounds), 1):
        # The table so far after every burst: whoever stops has what was measured.
        measured = [(run.steps, run.passes) for run in runs if run.steps]
        if plain.steps and len(measured) > 1:
            steps = sum(len(steps) for steps, _ in measured)
            busy = {"steps": steps, "busy_cores": round(watch.cores, 2)}
            table = fit_costs(measured, settings | busy)
        yield Progress(done, rounds * len(runs), "measuring costs", table)
        # Small sizes come first, so that a slow pair still has the beginning of its table.
        if perf_counter() - began > seconds and done > 2:
            break
    if table is None:
        raise ValueError("the models end every text immediately, so there is no step to time.")


class _Run:
    """A tree of one shape: runs of the loop one after the other, and the steps and draft passes
    that were counted."""

    def __init__(self, pair: Pair, config: RunConfig) -> None:
        self.steps: list[Step] = []
        self.passes: list[Pass] = []
        self._latest: list[Pass] = []
        config = replace(config, drafter=_clocked(config.drafter, self._latest))
        # Without an end: a burst takes a few steps, wherever the text is by now.
        self._loop = chain.from_iterable(speculate(pair, config) for _ in count())

    def burst(self, steps: int, number: int) -> None:
        for place, step in enumerate(islice(self._loop, steps + 1)):
            # The first step of a burst finds cold caches, that of a text reads the prompt.
            if place > 0 and step.index > 0:
                self.steps.append(step)
                self.passes += self._latest
            self._latest.clear()


def _clocked(drafter: Drafter, passes: list[Pass]) -> Drafter:
    """A drafter that appends a `Pass` each time it is asked for rows."""

    # A subclass and no wrapper: builders and rules ask a drafter for its class attributes.
    class Clocked(type(drafter)):  # type: ignore[misc]  # whichever drafter it is
        def open(self, context: DrafterContext) -> DrafterSession:
            drafting = super().open(context)
            expand = drafting.expand

            def timed(
                tree: TokenTree, nodes: Sequence[int], sampling: Sampling
            ) -> list[np.ndarray]:
                began = perf_counter()
                rows = expand(tree, nodes, sampling)
                passes.append(Pass(nodes[0] == 0, len(nodes), perf_counter() - began))
                return rows

            drafting.expand = timed
            return drafting

    return Clocked(**drafter.parameters)


def prompts(count: int | None = None, chat: bool = False) -> list[str]:
    """The first `count` prompts, or all, that no training text holds: prose and code in turns, or
    questions for a chat model."""
    if chat:
        return QUESTIONS.read_text(encoding="utf-8").splitlines()[:count]
    # One of each kind in turns, so that the first few are of both.
    kinds = parse_json(HELD_OUT.read_text(encoding="utf-8")).values()
    return list(chain.from_iterable(zip(*kinds, strict=False)))[:count]


class Point(NamedTuple):
    """A timed tree: its nodes with the root, its speedups, the measured range."""

    name: str
    size: int
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

    Returns:
        Runs done, of how many, and what was measured so far: None until the costs are complete.
    """
    rule = "sequoia"
    if temperature == 0:
        rule = "exact-match"
    config = RunConfig(PROMPT, verifier=rule, temperature=temperature, max_new_tokens=64)
    config = config.for_pair(pair)
    acceptance = find_acceptance(rule, temperature, config.drafter.name, pair.info["name"])
    cost = None
    for update in measure_cost(pair, config, (1, *sizes, 64), seconds=seconds):
        cost = update.result
        # Which tree is fastest may turn round until all costs are there.
        yield Progress(update.done, 2 * update.total, update.stage, None)
    assert cost  # or `measure_cost` raises
    yield Progress(update.total, 2 * update.total, update.stage, MachineMeasurement(cost))
    runs = {}
    # Each size with the depth that is predicted to be fastest.
    cells = forecast(acceptance, cost, sizes).best_of_sizes
    for cell in cells:
        tree = BUILDERS["sequoia"](size=cell.size, depth=cell.depth, acceptance=acceptance)
        runs[f"{cell.size} nodes, {cell.depth} levels"] = pair, replace(config, builder=tree)
    # Prompts that no model was trained on: on training texts a draft guesses too well.
    questions = prompts(rounds, chat=getattr(pair, "chat", False))
    for timing in time_runs(runs, questions, uncut=True):
        points = []
        # Rows come in the order of the runs, those that were timed so far.
        for cell, timed in zip(cells, timing.result, strict=False):
            speedups = (timed.speedup, timed.low, timed.high)
            points.append(Point(timed.name, cell.size, cell.speedup, *speedups))
        yield Progress(
            timing.total + timing.done,
            2 * timing.total,
            "timing trees",
            MachineMeasurement(cost, tuple(points)),
        )
