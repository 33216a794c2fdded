"""What the runs of Explore, Compare and `/generate` have in common; they decode where the models
are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any

from specviz.config.run_config import RunConfig
from specviz.decode import blank_trace, speculate
from specviz.measure.timing import ROUNDS, measure_speedup
from specviz.models.base import Pair
from specviz.record.metrics import Counts
from specviz.record.step import Step
from specviz.record.trace import PairedSpeedup, Trace

from .queued_run import Turn

PACE = 0.25  # seconds of decoding that travel to the page together, which plays two steps a second


def batches(steps: Iterable[Step]) -> Iterator[list[Step]]:
    """The steps that travel to the page together: the first of a run alone, the others `PACE`
    seconds of decoding, so that a slow page gets fewer messages, never a slow engine; and after
    each other step nothing, where the run can be stopped. A failure comes after all steps."""
    unsent: list[Step] = []
    try:
        for step in steps:
            unsent.append(step)
            if step.index == 0 or sum(one.seconds.total for one in unsent) >= PACE:
                yield unsent
                unsent = []
            else:
                yield []
    except Exception:
        yield unsent
        raise
    yield unsent


def begin(turn: Turn, config: RunConfig, warm_up: int = 0) -> tuple[Trace, Iterator[Step]]:
    """The trace of a run before its first step, and its steps.

    Args:
        turn: what it computes with.
        config: what to run.
        warm_up: steps before it that are not counted, so that the run does not pay for a cold
            start.

    Raises:
        ValueError: if it cannot begin (the prompt is too long, say).
    """
    items = turn.compute(decode, config, warm_up, tokens=config.max_new_tokens)
    return next(items), items


def decode(pair: Pair, config: RunConfig, warm_up: int) -> Iterator[Any]:
    """The trace of a run before its first step, and then its steps: one iterator, since all that
    comes back from a borrowed GPU comes through one."""
    blank = blank_trace(pair, config)
    prompt = blank.prompt_tokens  # a long text takes time to become tokens
    for _ in islice(speculate(pair, config, prompt=prompt), warm_up):
        pass
    return chain([blank], speculate(pair, config, prompt=prompt))


def timing(
    turn: Turn, config: RunConfig, first: Counts, rounds: int = ROUNDS
) -> Iterator[PairedSpeedup | None]:
    """A run against plain decoding in alternating rounds, until somebody else waits; nothing for
    plain decoding."""
    if config.builder.name == "plain" or not rounds:
        return
    # A measurement takes as long as several runs, and its rounds are worth nothing beside others'
    # work: who waits comes first, and the page shows the rounds that there were.
    for speedup in turn.compute(
        measure_speedup, config, first, rounds, tokens=config.max_new_tokens
    ):
        yield speedup
        if turn.others_wait():
            return
