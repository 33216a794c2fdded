"""Measure the cost of a step on this machine.

The numbers come from the loop itself, run on trees of increasing size, so caches are as warm and as cold as in a real
run.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil, log2
from statistics import median
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..acceptance.progress import Progress, final_result
from ..acceptance.vectors import find_acceptance
from ..builders.sequoia import Sequoia
from ..config import RunConfig
from ..decode import speculate
from ..drafters.base import Drafter
from ..models.base import Pair
from ..planning.cost_table import CostTable
from ..record import Step
from .quiet import Watch
from .timing import interleave

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 768)
PROMPT = (
    "Once upon a time there was an old man who lived with his three sons in a small house at the edge of a great "
    "forest. One winter, when the snow lay deep and there was no bread left, he called them to him and said"
)


def measure_cost(
    pair: Pair,
    config: RunConfig | None = None,
    sizes: Sequence[int] = SIZES,
    rounds: int = 3,
    burst: int = 4,
    seconds: float = 45.0,
) -> Iterator[Progress[CostTable | None]]:
    """Measure this machine; stop iterating to stop it.

    Every size is run in bursts of a few steps, whose first is not counted, and the bursts take turns. Medians are
    reported. Sizes that the pair cannot fill are left out.

    Args:
        pair: the models.
        config: temperature, rule, drafter, prompt; its builder and its length are not used.
        sizes: nodes of the trees, 1 for plain decoding.
        rounds: how many bursts each size gets.
        burst: how many steps a burst counts.
        seconds: no burst begins later than this, so large trees are left out where the models are slow.

    Returns:
        Bursts done, of how many, and the table so far; None until there is one.

    Raises:
        ValueError: if the pair has not what the drafter takes, or the models end every text at once.

    >>> *_, last = measure_cost(specviz.toy_pair(), specviz.RunConfig("ab"), sizes=(1, 4), rounds=1, burst=1)
    >>> last.result.sizes
    (1, 4)
    """
    began = perf_counter()
    config = config or RunConfig(PROMPT)
    config = replace(config, max_new_tokens=pair.max_positions)
    rule = config.verifier
    drafter = config.drafter
    acceptance = find_acceptance(rule.name, config.temperature, drafter.name, pair.info["name"])
    if drafter.name == "model" and pair.open(pair.encode("a") or [0])[1] is None:
        raise ValueError("the pair must have a draft to measure its cost. Choose another drafter.")
    watch = Watch()
    runs = {(1, 0): _Run(pair, config.autoregressive())}
    for size in sorted(set(sizes) - {1}):
        for depth in sorted({min(size - 1, ceil(log2(size))), min(size - 1, 2 * ceil(log2(size)), 16)}):
            shaped = replace(config, builder=Sequoia(size=size, depth=depth, acceptance=acceptance))
            runs[size, depth] = _Run(pair, shaped)
    ways = {key: partial(run.burst, burst) for key, run in runs.items()}
    table = None
    for done, _ in enumerate(interleave(ways, rounds), 1):
        measured = [run for run in runs.values() if run.steps]
        table = _table(pair, config, measured, watch.cores) if runs[1, 0].steps and len(measured) > 1 else None
        yield Progress(done, rounds * len(runs), "measuring costs", table)
        if perf_counter() - began > seconds and done > 2:
            break
    if table is None:
        raise ValueError("the models end every text immediately, so there is no step to time.")


def cost_table(pair: Pair, config: RunConfig | None = None, **options: Any) -> CostTable:
    """`measure_cost` to its end."""
    return final_result(measure_cost(pair, config, **options))


class _Run:
    """One tree size: a run of the loop that goes on burst by burst, and what was counted of it."""

    def __init__(self, pair: Pair, config: RunConfig) -> None:
        self._now: list[Pass] = []
        self.pair = pair
        self.config = replace(config, drafter=_clocked(config.drafter, self._now))
        self.steps: list[Step] = []
        self.passes: list[Pass] = []
        self._loop: Iterator[Step] = iter(())

    def burst(self, count: int, turn: int) -> None:
        for place in range(count + 1):
            self._now.clear()
            step = next(self._loop, None)
            if step is None:  # the text came to an end: begin it again, without counting the prompt's pass
                self._loop = speculate(self.pair, self.config)
                step = next(self._loop)
            elif place > 0:
                self.steps.append(step)
                self.passes += self._now

    @property
    def nodes(self) -> int:
        return int(median(len(step.parents) for step in self.steps))

    @property
    def inner(self) -> float:
        return median(len(set(step.parents)) - 1 for step in self.steps)

    @property
    def overhead(self) -> float:
        return median(step.seconds.verify + step.seconds.other for step in self.steps)


def _table(pair: Pair, config: RunConfig, runs: list[_Run], busy: float = 0.0) -> CostTable:
    """Medians over what the runs counted."""
    by_size: dict[int, list[_Run]] = {}
    for run in runs:
        by_size.setdefault(run.nodes, []).append(run)
    sizes = tuple(sorted(by_size))
    # Two depths of one size differ in their inner nodes only: the difference is what a row costs.
    slopes = [
        (deep.overhead - flat.overhead) / (deep.inner - flat.inner)
        for flat, deep in (two for two in by_size.values() if len(two) == 2)
        if deep.inner > flat.inner
    ]
    least = [run.overhead / run.inner for run in runs if run.inner]
    row_s = max(0.0, min(median(slopes), *least)) if slopes else 0.0
    target = [[step.seconds.target for run in by_size[size] for step in run.steps] for size in sizes]
    overhead = [median(max(0.0, run.overhead - row_s * run.inner) for run in by_size[size]) for size in sizes]
    asked = [found for run in runs for found in run.passes]
    opening = [found.seconds for found in asked if found.first]
    below = [found.seconds for found in asked if found.nodes == 1 and not found.first]
    widths: dict[int, list[tuple[int, float]]] = {}
    for first, width, seconds in asked:
        if not (first and below):
            widths.setdefault(int(log2(width)), []).append((width, seconds))
    draft = [[seconds for _, seconds in widths[octave]] for octave in sorted(widths)]
    plain = [step.seconds.total for run in runs if run.nodes == 1 for step in run.steps]
    return CostTable(
        machine="this machine",
        projection=False,
        note="Measured here, in the decoding loop, on trees of increasing size; medians over steps.",
        plain_s=median(plain),
        sizes=sizes,
        target_s=tuple(_rising([median(each) for each in target])),
        overhead_s=tuple(overhead),
        widths=tuple(round(median(width for width, _ in widths[octave])) for octave in sorted(widths)),
        draft_s=tuple(map(median, draft)),
        row_s=row_s,
        opening_s=max(0.0, median(opening) - median(below)) if opening and below else 0.0,
        spread={
            "plain": _quartiles(plain), "target": _rising([*map(_quartiles, target)]),
            "draft": [*map(_quartiles, draft)],
        },
        settings={
            "pair": pair.info.get("name", ""), "drafter": config.drafter.name,
            "verifier": config.verifier.name,
            "temperature": config.temperature, "steps": sum(len(run.steps) for run in runs),
            "offload": getattr(pair, "offload", None), "busy_cores": round(busy, 2),
        },
    )  # fmt: skip


def _rising(values: list[Any]) -> list[Any]:
    """The largest so far at each place: a pass over more nodes costs no less, whatever noise says."""
    return np.maximum.accumulate(values, axis=0).tolist()


def _quartiles(values: list[float]) -> list[float]:
    return np.quantile(values, (0.25, 0.75)).tolist()


class Pass(NamedTuple):
    """A drafter was asked once: whether for the root's row, which comes first, for how many nodes, and the seconds."""

    first: bool
    nodes: int
    seconds: float


def _clocked(drafter: Drafter, passes: list[Pass]) -> Drafter:
    """A drafter that appends a `Pass` each time it is asked for rows."""

    class Clocked(type(drafter)):  # type: ignore[misc]  # whichever drafter it is
        def open(self, desk):
            drafting = super().open(desk)
            expand = drafting.expand

            def timed(tree, nodes, sampling):
                began = perf_counter()
                rows = expand(tree, nodes, sampling)
                passes.append(Pass(nodes[0] == 0, len(nodes), perf_counter() - began))
                return rows

            drafting.expand = timed
            return drafting

    return Clocked(**drafter.parameters)
