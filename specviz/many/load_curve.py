"""Speedup against the number of texts decoded together, measured: the best tree for each text, and a shared budget.

Plain decoding, equal trees and shared trees decode the same texts in turns, each time all texts in one loop. Counted
are steps in which every text took part, after the first, which also reads the prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from time import perf_counter

from ..acceptance.progress import SoFar
from ..benchmarks.alternating_rounds import paired
from ..builders.base import TreeBuilder
from ..compatibility import compatible
from ..config import RunConfig
from ..decode import speculate
from ..metrics import estimate, ratio_of_rates
from ..models.base import Pair
from ..planning.choose import Candidate
from ..planning.shared_passes import SharedBudget, SharedTree
from .many_texts import speculate_together

TEXTS = (1, 2, 4, 8, 16)
ROUNDS, STEPS = 5, 24  # of each way of decoding, and steps of a round that count


@dataclass(frozen=True)
class LoadPoint:
    """What speculation brings to several texts decoded together.

    Attributes:
        texts: how many.
        tree, nodes, predicted: the tree of each text, its nodes with the root, and its predicted speedup.
        plain_rate: tokens per second of plain decoding, of all texts together.
        speedup, margin: tokens per second with equal trees over those of plain decoding, and the half-width of the 95 %
            interval over rounds, each with other texts.
        shared, shared_margin, shared_nodes: the same with a budget of as many nodes that the texts share, and the mean
            nodes a text got; None where the rule does not go with such trees.
        same: how many of the texts are token for token what they are when decoded alone; rounding may make one differ.
    """

    texts: int
    tree: str
    nodes: int
    predicted: float
    plain_rate: float
    speedup: float
    margin: float | None
    shared: float | None
    shared_margin: float | None
    shared_nodes: float | None
    same: int


@dataclass(frozen=True)
class Burst:
    """Some steps of several texts: tokens, seconds and nodes of those that count, and what each text wrote in all."""

    tokens: int
    seconds: float
    nodes: float
    written: tuple[tuple[int, ...], ...]


def burst(pair: Pair, configs: Sequence[RunConfig], steps: int, budget: SharedBudget | None = None) -> Burst:
    """Decode several texts until so many steps are counted or a text ends.

    Args:
        pair, configs: as for `speculate_together`.
        steps: how many to count.
        budget: what their trees share, if they do.
    """
    written: list[list[int]] = [[] for _ in configs]
    tokens = nodes = counted = 0
    seconds, began = 0.0, perf_counter()
    with closing(speculate_together(pair, configs)) as passes:
        for found in passes:
            took = perf_counter() - began
            size = sum(len(step.parents) for _, step in found)
            for text, step in found:
                written[text] += step.emitted
            if len(found) < len(configs):
                break
            if found[0][1].index > 0:
                counted, seconds, nodes = counted + 1, seconds + took, nodes + size
                tokens += sum(len(step.emitted) for _, step in found)
            if counted == steps:
                break
            if budget is not None:
                budget.spent(size)
            began = perf_counter()
    return Burst(tokens, seconds, nodes / max(1, counted) / len(configs), tuple(map(tuple, written)))


def load_curve(
    pair: Pair,
    trees: dict[int, Candidate],
    config: RunConfig,
    prompts: Sequence[str],
    rounds: int = ROUNDS,
    steps: int = STEPS,
) -> Iterator[SoFar[tuple[LoadPoint, ...]]]:
    """Time each number of texts; stop iterating to stop it.

    Args:
        pair: the models.
        trees: number of texts -> the tree of each, with its prediction.
        config: rule, drafter and temperatures; its prompt, builder and length are not used.
        prompts: texts to continue, again and again with other seeds.
        rounds, steps: how often each way decodes, and how many steps of that count.

    Raises:
        ValueError: if the models cannot read several texts in one pass, or end every text at once.
    """
    points: list[LoadPoint] = []
    for place, (texts, best) in enumerate(trees.items()):
        for done, point in _measured(pair, texts, best, config, prompts, rounds, steps):
            points += [point] if point else []
            yield SoFar(place * 3 * rounds + done, len(trees) * 3 * rounds, tuple(points))


def _measured(
    pair: Pair, texts: int, best: Candidate, config: RunConfig, prompts: Sequence[str], rounds: int, steps: int
) -> Iterator[tuple[int, LoadPoint | None]]:
    """Bursts done, and at the end what they say."""

    def configs(builder: TreeBuilder | None, turn: int) -> list[RunConfig]:
        numbers = range(turn * texts, (turn + 1) * texts)
        each = [
            replace(
                config, prompt=prompts[number % len(prompts)], seed=config.seed + number,
                max_new_tokens=pair.max_positions, builder=builder or best.builder,
            )
            for number in numbers
        ]  # fmt: skip
        return each if builder else [one.plainly() for one in each]

    budget = SharedBudget(texts * len(best.builder.shape), texts)
    shared = SharedTree(size=max(2, min(1024, budget.nodes)), depth=best.predicted.depth, budget=budget)
    match = compatible(replace(config, builder=shared))
    builders: dict[str, TreeBuilder | None] = {"plain": None, "equal": best.builder}
    if match.possible and match.lossless:
        builders["shared"] = shared
    burst(pair, configs(best.builder, 0), 1)  # the first pays for what the models set up
    ways = {
        name: partial(
            lambda turn, builder, shares: burst(pair, configs(builder, turn), steps, shares),
            builder=builder, shares=budget if name == "shared" else None,
        )
        for name, builder in builders.items()
    }  # fmt: skip
    found: dict[str, list[Burst]] = {name: [] for name in ways}
    for done, (_, name, one) in enumerate(paired(ways, rounds), 1):
        found[name].append(one)
        yield done, None
    plain = found["plain"]
    if not all(one.tokens for bursts in found.values() for one in bursts):
        raise ValueError("the models end a text within its first steps, so nothing could be timed. Use other prompts.")
    same = sum(
        _alone(pair, alone, len(text)) == text
        for alone, text in zip(configs(best.builder, 0), found["equal"][0].written, strict=True)
    )
    speedup, margin = _over_plain(found["equal"], plain)
    other, spread, nodes = None, None, None
    if "shared" in found:
        other, spread = _over_plain(found["shared"], plain)
        nodes = sum(one.nodes for one in found["shared"]) / rounds
    rate, _ = estimate([(one.tokens, one.seconds) for one in plain])
    yield 3 * rounds, LoadPoint(
        texts, best.name, len(best.builder.shape), best.predicted.speedup, rate, speedup, margin, other,
        spread, nodes, same,
    )  # fmt: skip


def _over_plain(bursts: Sequence[Burst], plain: Sequence[Burst]) -> tuple[float, float | None]:
    rows = [(a.tokens, a.seconds, b.tokens, b.seconds) for a, b in zip(bursts, plain, strict=True)]
    return estimate(rows, ratio_of_rates)


def _alone(pair: Pair, config: RunConfig, tokens: int) -> tuple[int, ...]:
    """The first tokens of a text that is decoded alone."""
    return tuple(islice((token for step in speculate(pair, config) for token in step.emitted), tokens))
