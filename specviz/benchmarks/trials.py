"""Runs timed against plain decoding in alternating rounds: trees over many prompts, or one run that was just made.

Every prompt is decoded plainly and with every tree. Counted are the steps with room for the whole tree, without the
first, which also reads the prompt: what the tree brings while the text has room for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import partial

from ..acceptance.in_traces import with_room
from ..acceptance.progress import SoFar
from ..acceptance.text_units import sources
from ..builders.base import TreeBuilder
from ..config import RunConfig
from ..decode import run, speculate
from ..metrics import Counts, estimate, ratio_of_rates
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..record import Step, Trace
from ..record_parts import PairedSpeedup
from ..tree import Topology
from ..verifiers.base import Verifier
from .alternating_rounds import paired

PLAIN = "plain"


@dataclass(frozen=True)
class Trial:
    """What one way of decoding was measured to do, over all prompts together.

    Args:
        name: of the tree, as in `trials`.
        speedup: tokens per second, times those of plain decoding on the same prompts.
        low, high: the smallest and largest speedup of a single prompt.
        margin: half-width of the 95 % interval of `speedup` over texts, each timed both ways; None for a single text.
        tokens_per_pass: of the counted steps.
        step_s: mean seconds of a counted step, and `parts` how they split into draft, target and overhead.
        steps: how many were counted.
    """

    name: str
    speedup: float
    low: float
    high: float
    margin: float | None
    tokens_per_pass: float
    step_s: float
    parts: dict[str, float]
    steps: int


def trials(
    pair: Pair, builders: Mapping[str, TreeBuilder], verifier: Verifier, config: RunConfig, prompts: Sequence[str]
) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """Time trees; stop iterating to stop it.

    Args:
        pair: the models.
        builders: name -> a builder whose trees have one size, unless the text ends.
        verifier: the rule of all of them.
        config: temperatures, length and seed; prompt `i` is run with seed + i, its builder and rule are not used.
        prompts: texts to continue, each once a tree.

    Returns:
        Runs done, of how many, and after the last run on a prompt a trial for each tree, over all prompts so far.

    >>> trees, rule = {"small": specviz.BUILDERS["sequoia"](size=4)}, specviz.VERIFIERS["sequoia"]()
    >>> news = trials(specviz.toy_pair(), trees, rule, specviz.RunConfig(max_new_tokens=9), ["ab"])
    >>> [(progress.done, progress.of) for progress in news]
    [(1, 2), (2, 2)]
    """
    once = replace(config, verifier=verifier)
    return timed({name: (pair, replace(once, builder=builder)) for name, builder in builders.items()}, prompts)


def timed(runs: Mapping[str, tuple[Pair, RunConfig]], prompts: Sequence[str]) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """Time runs that may differ in anything but the target, against plain decoding; stop iterating to stop it.

    Args:
        runs: name -> a pair and what to run with it, as for `trials`; all pairs have the same target.
        prompts: as for `trials`.
    """
    counted: dict[str, list[Counts]] = {name: [] for name in (PLAIN, *runs)}
    of = len(counted) * len(prompts)

    def ran(pair: Pair, config: RunConfig, turn: int) -> Trace:
        return run(pair, replace(config, prompt=prompts[turn], seed=config.seed + turn))

    pair, config = next(iter(runs.values()))
    ways = {name: partial(ran, *each) for name, each in {PLAIN: (pair, config.plainly()), **runs}.items()}
    if prompts:  # the first run of all would pay for what the models set up
        ran(pair, config, 0)
    for done, (_, name, trace) in enumerate(paired(ways, len(prompts)), 1):
        counted[name].append(Counts.of(whole_steps(trace), whole=True))
        yield SoFar(done, of, results(counted, sources(prompts)) if done % len(ways) == 0 else ())


def whole_steps(trace: Trace) -> list[Step]:
    """The steps of a run after the first that had room for a tree as deep as the run's deepest."""
    deepest = max((int(Topology(step.parents).depth.max()) for step in trace.steps), default=0)
    return [step for step in with_room(trace, deepest) if step.index > 0]


def results(counted: Mapping[str, Sequence[Counts]], texts: Sequence[str]) -> tuple[Trial, ...]:
    """A trial of every tree, from the counted steps of each prompt; a prompt where one has none is left out.

    Args:
        counted: of each way of decoding, prompt by prompt.
        texts: which text each prompt belongs to.
    """
    done = min(map(len, counted.values()))
    kept = [turn for turn in range(done) if all(runs[turn].timed_passes for runs in counted.values())]
    found = []
    for name, runs in counted.items() if kept else ():
        if name != PLAIN:
            both = [(runs[turn], counted[PLAIN][turn]) for turn in kept]
            rows = [(a.timed_tokens, sum(a.seconds), b.timed_tokens, sum(b.seconds)) for a, b in both]
            speedup, margin = estimate(rows, ratio_of_rates, [texts[turn] for turn in kept])
            ratios = [own.speedup(plain) for own, plain in both]
            total = sum((own for own, _ in both), Counts())
            parts = total.step_parts
            parts["overhead"] = parts.pop("verify") + parts.pop("other")
            found.append(
                Trial(
                    name, speedup, min(ratios), max(ratios), margin, total.tokens_per_pass, total.seconds_per_step,
                    parts, total.passes,
                )
            )  # fmt: skip
    return tuple(found)


ROUNDS = 3
LONGEST = 3.0  # seconds of decoding after which a repetition ends, if it has FEWEST tokens
FEWEST = 24  # tokens


def in_turns(pair: Pair, config: RunConfig, first: Counts, rounds: int = ROUNDS) -> Iterator[PairedSpeedup | None]:
    """Time a run that was just made; None after every step, and what is known after every round.

    Unlike `trials`, which asks how good a tree is, this asks how much faster one run was: a round's ratio is of two
    runs that stood next to each other.

    Args:
        pair: the models.
        config: of the run.
        first: the run itself, which is the first turn of the first round.
        rounds: how many, from 1.
    """
    if not first.tokens_per_s > 0:
        return  # it ended with its first step, so there is nothing to time
    ways = {"run": lambda _: speculate(pair, config), "plain": lambda _: speculate(pair, config.plainly())}
    _, processor, cores = machine()
    found: dict[str, list[Counts]] = {name: [] for name in ways}
    for turn, name, steps in paired(ways, rounds):
        counts = first if (turn, name) == (0, "run") else Counts()
        for step in () if counts is first else steps:
            counts += Counts.of([step])
            yield None
            if sum(counts.seconds) > LONGEST and counts.timed_tokens >= FEWEST:
                break
        if not counts.tokens_per_s > 0:
            return
        found[name].append(counts)
        if len(found["run"]) == len(found["plain"]):
            ours, theirs = (sum(each, Counts()) for each in found.values())
            ratios = [run.speedup(plain) for run, plain in zip(*found.values(), strict=True)]
            yield PairedSpeedup(
                ours.speedup(theirs), min(ratios), max(ratios), len(ratios), ours.tokens_per_s, theirs.tokens_per_s,
                first.tokens * ours.seconds_per_token, first.tokens * theirs.seconds_per_token,
                date.today().isoformat(), f"{processor}, {cores} {'core' if cores == 1 else 'cores'}",
            )  # fmt: skip
