"""Trees timed against plain decoding and each other, prompt by prompt in turn.

Every prompt is decoded plainly and with every tree, in an order that turns from prompt to prompt, so that a noisy
machine disturbs all alike. Counted are the steps with room for the whole tree, without the first, which also reads the
prompt: what the tree brings while the text has room for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ..config import RunConfig
from ..decode import run
from ..measure.by_text import jackknife, ratio_of_rates
from ..measure.in_traces import with_room
from ..protocols import Pair, TreeBuilder, Verifier
from ..record import Step, Trace
from ..tree import Topology

PLAIN = "plain"


@dataclass(frozen=True)
class Trial:
    """What one way of decoding was measured to do, over all prompts together.

    Args:
        name: of the tree, as in `trials`.
        speedup: tokens per second, times those of plain decoding on the same prompts.
        low, high: the smallest and largest speedup of a single prompt.
        error: standard error of `speedup`, with prompts as the unit, each timed both ways; None for a single prompt.
        tokens_per_pass: of the counted steps.
        step_s: mean seconds of a counted step, and `parts` how they split into draft, target and overhead.
        steps: how many were counted.
    """

    name: str
    speedup: float
    low: float
    high: float
    error: float | None
    tokens_per_pass: float
    step_s: float
    parts: dict[str, float]
    steps: int


@dataclass(frozen=True)
class Progress:
    """Runs done, of how many, and after the last run on a prompt a trial for each tree, over all prompts so far."""

    done: int
    of: int
    trials: tuple[Trial, ...]


def trials(
    pair: Pair, builders: Mapping[str, TreeBuilder], verifier: Verifier, config: RunConfig, prompts: Sequence[str]
) -> Iterator[Progress]:
    """Time trees; stop by not asking for more.

    Args:
        pair: the models.
        builders: name -> a builder whose trees have one size, unless the text ends.
        verifier: the rule of all of them.
        config: temperatures, length and seed; prompt `i` is run with seed + i, its builder and rule are not used.
        prompts: texts to continue, each once a tree.
    """
    ways = {PLAIN: None, **builders}
    counted: dict[str, list[list[Step]]] = {name: [] for name in ways}
    done, of = 0, len(ways) * len(prompts)
    if prompts:  # the first run of all would pay for what the models set up
        run(pair, replace(config, prompt=prompts[0], builder=next(iter(builders.values())), verifier=verifier))
    for turn, prompt in enumerate(prompts):
        once = replace(config, prompt=prompt, verifier=verifier, seed=config.seed + turn)
        names = list(ways)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            builder = ways[name]
            trace = run(pair, once.plainly() if builder is None else replace(once, builder=builder))
            counted[name].append(whole_steps(trace))
            done += 1
            yield Progress(done, of, results(counted) if done % len(ways) == 0 else ())


def whole_steps(trace: Trace) -> list[Step]:
    """The steps of a run after the first that had room for a tree as deep as the run's deepest."""
    deepest = max((int(Topology(step.parents).depth.max()) for step in trace.steps), default=0)
    return [step for step in with_room(trace, deepest) if step.index > 0]


def results(counted: Mapping[str, Sequence[Sequence[Step]]]) -> tuple[Trial, ...]:
    """A trial of every tree, from the counted steps of each prompt; a prompt where one has none is left out."""
    kept = [turn for turn in range(min(map(len, counted.values()))) if all(runs[turn] for runs in counted.values())]
    if not kept:
        return ()
    plain = [_tokens_and_seconds(counted[PLAIN][turn]) for turn in kept]
    found = []
    for name, runs in counted.items():
        if name != PLAIN:
            pairs = [_tokens_and_seconds(runs[turn]) for turn in kept]
            ratios = [won / took * base / written for (won, took), (written, base) in zip(pairs, plain, strict=True)]
            both = list(zip(pairs, plain, strict=True))  # what disturbed a round disturbed its two runs alike
            speedup, error = ratio_of_rates(both), jackknife(both)
            steps = [step for turn in kept for step in runs[turn]]
            parts = {
                "draft": sum(step.seconds.draft for step in steps) / len(steps),
                "target": sum(step.seconds.target for step in steps) / len(steps),
                "overhead": sum(step.seconds.verify + step.seconds.other for step in steps) / len(steps),
            }
            tokens = sum(won for won, _ in pairs) / len(steps)
            found.append(
                Trial(
                    name, speedup, min(ratios), max(ratios), error, tokens, sum(parts.values()), parts, len(steps)
                )
            )  # fmt: skip
    return tuple(found)


def _tokens_and_seconds(steps: Sequence[Step]) -> tuple[float, float]:
    return sum(len(step.path) + 1 for step in steps), sum(step.seconds.total for step in steps)
