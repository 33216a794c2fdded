"""Runs timed against plain decoding in alternating rounds: trees over many prompts, or one run that was just made.

Every prompt is decoded plainly and in every other way. `trials` counts the steps with room for the whole tree, without
the first, which also reads the prompt: what the tree brings while the text has room for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from math import nan
from typing import Any

from ..acceptance.in_traces import with_room
from ..acceptance.progress import SoFar
from ..acceptance.text_units import sources
from ..builders.base import TreeBuilder
from ..config import RunConfig
from ..decode import run, speculate
from ..metrics import Counts, estimate, ratio_of_rates
from ..models.base import Pair
from ..planning.machine_profile import machine
from ..record import Step
from ..trace import PairedSpeedup, Trace
from ..tree import Topology
from ..verifiers.base import Verifier
from .alternating_rounds import paired

PLAIN = "plain"


@dataclass(frozen=True)
class Trial:
    """What one way of decoding was measured to do, over all prompts together.

    Args:
        name: of the tree, as in `trials`, or of the strategies.
        speedup: tokens per second, times those of plain decoding on the same prompts.
        low, high: the smallest and largest speedup of a single prompt, or of a round where there are several.
        margin: half-width of the 95 % interval of `speedup` over texts, each timed both ways; None for a single text.
        tokens_per_pass: of the counted steps.
        step_s: mean seconds of a counted step, and `parts` how they split into `PARTS`; {} where that is not known.
        steps: how many were counted.
        tokens_per_s, draft_passes: tokens per second, and passes of the draft per step.
        against: the speedup over other ways to decode, by their names.
        lossless: whether its text has exactly the target's distribution.
        setting: what rows with the same name differ in: the kind of text and the temperature.
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
    tokens_per_s: float = nan
    draft_passes: float = 0.0
    against: dict[str, float] = field(default_factory=dict)
    lossless: bool = True
    setting: str = ""

    @property
    def overhead(self) -> float:
        """Seconds of a step outside the models."""
        return self.parts["verify"] + self.parts["other"]

    @classmethod
    def of(
        cls, name: str, runs: Sequence[Counts], plain: Sequence[Counts], texts: Sequence[str] | None = None, **more: Any
    ) -> Trial:
        """From what was counted of each prompt or round, both ways.

        Args:
            name, more: fields.
            runs, plain: prompt by prompt, or round by round.
            texts: which text each belongs to; None where each has all of them, and then there is no interval.
        """
        own, other = sum(runs, Counts()), sum(plain, Counts())
        ratios = [a.speedup(b) for a, b in zip(runs, plain, strict=True)]
        rows = [(a.timed_tokens, sum(a.seconds), b.timed_tokens, sum(b.seconds))
                for a, b in zip(runs, plain, strict=True)]  # fmt: skip
        return cls(
            name, own.speedup(other), min(ratios), max(ratios),
            None if texts is None else estimate(rows, ratio_of_rates, texts)[1],
            own.tokens_per_pass, own.seconds_per_step, own.step_parts, own.passes, own.tokens_per_s,
            own.draft_passes_per_step, **more,
        )  # fmt: skip


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
    if not kept:
        return ()
    same = {name: [runs[turn] for turn in kept] for name, runs in counted.items()}
    where = [texts[turn] for turn in kept]
    return tuple(Trial.of(name, runs, same[PLAIN], where) for name, runs in same.items() if name != PLAIN)


Method = Callable[[RunConfig], Counts]


def by_round(
    methods: Mapping[str, Method], config: RunConfig, prompts: Sequence[str], rounds: int
) -> Iterator[SoFar[dict[str, list[Counts]]]]:
    """Time methods prompt by prompt, in rounds over all prompts; stop iterating to stop it.

    Args:
        methods: by name.
        config: what each is given, with a prompt.
        prompts: texts to continue, at least one.
        rounds: how often each method continues all of them.

    Returns:
        Runs done, of how many, and what was counted of each method in each round: over the prompts so far in the first
        round, over whole rounds after it; {} before the first prompt is done.
    """
    for method in methods.values():  # what is loaded, tokenised or captured first is not timed
        method(replace(config, prompt=prompts[0], max_new_tokens=min(16, config.max_new_tokens)))
    found: dict[str, list[Counts]] = {name: [] for name in methods}
    each, known = len(prompts), {}

    def decoded(method: Method, turn: int) -> Counts:
        # Prompts move on by one each round, so that none always meets the same order.
        return method(replace(config, prompt=prompts[(turn + turn // each) % each]))

    ways, of = {name: partial(decoded, method) for name, method in methods.items()}, rounds * each * len(methods)
    for done, (_, name, counts) in enumerate(paired(ways, rounds * each), 1):
        found[name].append(counts)
        turns, rest = divmod(done, len(methods))
        if rest == 0 and (turns < each or turns % each == 0):  # the first round as it comes, then whole rounds
            known = {
                one: [sum(runs[at : at + each], Counts()) for at in range(0, turns, each)]
                for one, runs in found.items()
            }
        yield SoFar(done, of, known)


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
