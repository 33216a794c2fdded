"""Runs as updates: the one generator behind Explore, Compare and the endpoint `/generate`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, TypeVar

from specviz.config.run_config import RunConfig
from specviz.decode import run, speculate
from specviz.measure.timing import ROUNDS, measure_speedup
from specviz.proof.same_text import Comparison, comparing, promised
from specviz.record.metrics import Counts
from specviz.record.step import Step
from specviz.record.trace import PairedSpeedup, Trace

from ..machine.engine import Engine, batch_by_time, prefetch
from ..machine.queue import until_run_waits
from .failures import reason

T = TypeVar("T")


@dataclass(frozen=True)
class Update:
    """What is new of one run."""

    at: int = 0  # which run
    note: str = ""  # a sentence while the models are loaded
    blank: Trace | None = None  # the run before its first step
    steps: tuple[Step, ...] = ()
    trace: Trace | None = None  # the whole run
    speedup: PairedSpeedup | None = None  # over plain decoding, after a round of timing
    timed: bool = False  # no further round comes
    same: Comparison | None = (
        None  # how far its text is that of plain decoding, where a rule promises the same
    )
    error: str = ""  # a sentence on why it failed
    begun: bool = False  # it failed after some steps


class Endless:
    """A pair in which the end of a text does not stop a run, so that all runs of a comparison write
    as many tokens."""

    eos_ids: frozenset[int] = frozenset()

    def __init__(self, pair: Any) -> None:
        self._pair = pair

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pair, name)


def decode(
    engine: Engine,
    configs: Sequence[RunConfig],
    title: str | None,
    write: Callable[[Update], T | None],
    rounds: int = ROUNDS,
    endless: bool = False,
    warm_up: int = 0,
    compare: bool = False,
) -> Iterator[T]:
    """Decode runs one after the other, then time each against plain decoding.

    Args:
        engine: has the models.
        configs: what to run.
        title: of the pair; the engine's first where it is None.
        write: what the caller makes of an update, None for nothing. While a run decodes it is
            called between two steps, in the thread that decodes, so that no step is timed while
            something is written.
        rounds: of timing; there are fewer while others wait.
        endless: whether the end of a text stops no run.
        warm_up: steps before each run that are not counted, so that none pays for a cold start.
        compare: whether the text is compared with that of plain decoding where the rule promises
            the same.

    Raises:
        ValueError: if the pair cannot be loaded.
    """
    traces: dict[int, Trace] = {}

    def items(update: Update) -> list[T]:
        if update.trace:
            traces[update.at] = update.trace
        return [item] if (item := write(update)) is not None else []

    for note in engine.loading(title):
        yield from items(Update(note=note))
    decoded = engine.compute(run_all, tuple(configs), endless, warm_up, title=title)
    with closing(prefetch(decoded, lambda updates: filter(None, map(items, updates)))) as groups:
        yield from chain.from_iterable(groups)
    for at, trace in traces.items():
        config = configs[at]
        if rounds and config.builder.name != "plain":
            timing = engine.compute(time_run, config, trace.counts, rounds, endless, title=title)
            for speedup in filter(None, until_run_waits(timing)):
                yield from items(Update(at, speedup=speedup))
        yield from items(Update(at, timed=True))
        if compare and promised(config.verifier, config.temperature):
            for same in engine.compute(comparing, config, list(trace.tokens), title=title):
                yield from items(Update(at, same=same))


def run_all(
    pair: Any, configs: Sequence[RunConfig], endless: bool, warm_up: int
) -> Iterator[Update]:
    """Every run, its steps in groups; one that fails keeps its steps, and the others follow; for
    `Engine.compute`."""
    pair = Endless(pair) if endless else pair
    for at, config in enumerate(configs):
        steps: list[Step] = []
        try:
            blank = run(pair, config, ())
            yield Update(at, blank=replace(blank, pair=blank.pair | streamed(pair)))
            for _ in islice(speculate(pair, config), warm_up):
                pass
            for group in batch_by_time(speculate(pair, config)):
                steps += group
                yield Update(at, steps=tuple(group))
            trace = run(pair, config, steps)
            yield Update(at, trace=replace(trace, pair=trace.pair | streamed(pair)))
        except Exception as error:
            sentence = reason(error, log=bool(steps))
            is_sentence = isinstance(error, ValueError) and not steps
            yield Update(
                at,
                error=sentence if is_sentence else f"The run failed. {sentence}",
                begun=bool(steps),
            )


def streamed(pair: Any) -> dict[str, Any]:
    """Where the target's weights are read from for every pass, and how many bytes a second; {}
    where that is memory."""
    offload = getattr(pair, "offload", None)
    return {"offload": offload, "disk_speed": pair.disk_speed} if offload else {}


def time_run(
    pair: Any, config: RunConfig, first: Counts, rounds: int, endless: bool
) -> Iterator[PairedSpeedup | None]:
    """A run against plain decoding in alternating rounds; for `Engine.compute`."""
    yield from measure_speedup(Endless(pair) if endless else pair, config, first, rounds)
