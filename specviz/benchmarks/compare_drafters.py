"""Compare drafters with the same tree, on stories and on code.

Every drafter decodes every prompt beside plain decoding, turn by turn. Deterministic at temperature 0; above it two
drafters write two texts, and all prompts together are what counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ..acceptance.progress import SoFar
from ..builders.base import TreeBuilder
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
from ..drafters.base import Drafter
from ..metrics import Counts, count
from ..models.base import Pair
from ..registry import spelled
from ..verifiers import VERIFIERS
from .alternating_rounds import paired


@dataclass(frozen=True)
class Row:
    """One drafter on one kind of text at one temperature.

    Attributes:
        tokens_per_pass: tokens written per pass of the target.
        draft_ms: milliseconds of drafting a step; draft_passes: passes of a model a step.
        speedup: tokens per second against plain decoding of the same prompts, all rounds together.
        low, high: the smallest and largest of a round.
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
    """A row for each temperature, kind of text and drafter; stop iterating to stop it.

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
        ValueError: if the pair lacks a drafter's model, or nothing lossless goes with the builder.
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
            for drafter in drafters:  # what is loaded, tokenised or captured first is not timed
                run(pair, replace(asked, drafter=drafter, max_new_tokens=min(8, config.max_new_tokens)))
            found: dict[Drafter, list[tuple[Counts, Counts]]] = {drafter: [] for drafter in drafters}
            current: tuple[Row, ...] = ()
            ways = {drafter: partial(_both, pair, replace(asked, drafter=drafter), texts) for drafter in drafters}
            for _, drafter, both in paired(ways, rounds):
                found[drafter].append(both)
                done += 1
                if done % len(drafters) == 0:
                    current = tuple(_row(spelled(each), kind, temperature, found[each]) for each in drafters)
                yield SoFar(done, of, rows + current)
            rows += current


def _both(pair: Pair, asked: RunConfig, texts: Sequence[str], turn: int) -> tuple[Counts, Counts]:
    """The runs on all texts, and plain decoding beside each."""
    runs = [(run(pair, one), autoregress(pair, one)) for one in (replace(asked, prompt=text) for text in texts)]
    return count(own for own, _ in runs), count(plain for _, plain in runs)


def _row(name: str, kind: str, temperature: float, rounds: list[tuple[Counts, Counts]]) -> Row:
    own, plain = (sum(each, Counts()) for each in zip(*rounds, strict=True))
    speedups = [one.speedup(other) for one, other in rounds]
    return Row(
        name, kind, temperature, own.tokens_per_pass, 1000 * own.step_parts["draft"], own.draft_passes_per_step,
        own.speedup(plain), min(speedups), max(speedups), len(rounds),
    )  # fmt: skip
