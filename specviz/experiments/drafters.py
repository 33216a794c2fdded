"""Who should draft? The same tree filled by one drafter after the other, on tales and on code.

Every drafter decodes every prompt beside plain decoding, turn by turn, so that a noisy machine disturbs both alike.
Deterministic at temperature 0; above it two drafters write two texts, and the mean over the prompts is what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
from ..desk import Drafter
from ..measure.so_far import SoFar
from ..protocols import Pair, TreeBuilder
from ..record import Trace
from ..verifiers import VERIFIERS


@dataclass(frozen=True)
class Row:
    """One drafter on one kind of text at one temperature.

    Attributes:
        tokens_per_pass: tokens written per pass of the target.
        draft_ms: milliseconds of drafting a step, the median of the rounds; draft_passes: passes of a model a step.
        speedup: tokens per second against plain decoding of the same prompts in the same round, the median.
        low, high: of the rounds.
    """

    drafter: str
    kind: str
    temperature: float
    tokens_per_pass: float
    draft_ms: float
    draft_passes: float
    speedup: float
    low: float
    high: float
    rounds: int


def compare(
    pair: Pair,
    drafters: Sequence[Drafter],
    builder: TreeBuilder,
    prompts: Mapping[str, Sequence[str]],
    temperatures: Sequence[float] = (0.0, 0.8),
    config: RunConfig | None = None,
    rounds: int = 3,
) -> Iterator[SoFar[tuple[Row, ...]]]:
    """A row for each temperature, kind of text and drafter; stop by not asking for more.

    Args:
        pair: the models.
        drafters: who is compared.
        builder: the tree all of them fill.
        prompts: texts to continue, by their kind.
        config: length, seed, top-p and top-k; what it says of anything else is not used.
        rounds: how often each decodes every prompt.

    Returns:
        Runs done, of how many, and the rows of all whole rounds so far: the last ones may have fewer than `rounds`.

    Raises:
        ValueError: if the pair has not what a drafter takes, or nothing lossless goes with the builder.
    """
    config, done = config or RunConfig(), 0
    rows: tuple[Row, ...] = ()
    of = len(temperatures) * len(prompts) * rounds * len(drafters)
    for temperature in temperatures:
        alike = replace(config, builder=builder, temperature=temperature)
        rule = VERIFIERS[suited(alike)]()
        for drafter in drafters:
            match = compatible(replace(alike, verifier=rule, drafter=drafter))
            if not match.lossless:
                raise ValueError(match.reason)
        for kind, texts in prompts.items():
            asked = replace(alike, verifier=rule, prompt=texts[0])
            found: dict[Drafter, list[tuple[list[Trace], list[Trace]]]] = {drafter: [] for drafter in drafters}
            for drafter in drafters:  # what is loaded, tokenised or captured first is not timed
                run(pair, replace(asked, drafter=drafter, max_new_tokens=min(8, config.max_new_tokens)))
            current: tuple[Row, ...] = ()
            for turn in range(rounds):
                for drafter in (*drafters[turn % len(drafters) :], *drafters[: turn % len(drafters)]):
                    runs = [replace(asked, drafter=drafter, prompt=text) for text in texts]
                    both = [(run(pair, one), autoregress(pair, one)) for one in runs]
                    found[drafter].append(([own for own, _ in both], [plain for _, plain in both]))
                    done += 1
                    if done % len(drafters) == 0:
                        current = tuple(_row(each.name, kind, temperature, found[each]) for each in drafters)
                    yield SoFar(done, of, rows + current)
            rows += current


def _row(name: str, kind: str, temperature: float, rounds: list[tuple[list[Trace], list[Trace]]]) -> Row:
    speedups = [_rate(own) / _rate(plain) for own, plain in rounds]
    steps = [[step for trace in own for step in trace.steps] for own, _ in rounds]
    drafting = [1000 * sum(step.seconds.draft for step in each) / len(each) for each in steps]
    return Row(
        name, kind, temperature,
        sum(len(trace.tokens) for own, _ in rounds for trace in own) / sum(map(len, steps)),
        median(drafting), sum(step.draft_passes for each in steps for step in each) / sum(map(len, steps)),
        median(speedups), min(speedups), max(speedups), len(rounds),
    )  # fmt: skip


def _rate(traces: Sequence[Any]) -> float:
    return sum(len(trace.tokens) for trace in traces) / sum(trace.seconds for trace in traces)
