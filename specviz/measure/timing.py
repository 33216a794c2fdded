"""Timing: alternatives run in turns, so that a slower machine affects all of them equally.

`interleave` is the only loop; everything that is compared by its time goes through it.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from typing import TypeVar

from ..base.codec import JsonObject
from ..base.progress import Progress
from ..config.run_config import RunConfig
from ..decode import run, speculate
from ..models.base import Pair
from ..record.metrics import Counts, estimate, ratio_of_rates
from ..record.step import Step
from ..record.trace import PairedSpeedup, Trace
from ..tree import Topology
from .processor import machine
from .prompt_files import by_category

AUTOREGRESSIVE = "plain"
WARM_UP = 8  # tokens of an uncounted run, in which weights are loaded and code is compiled
ROUNDS = 3  # of `measure_speedup`
# A repetition in `measure_speedup` ends after so many seconds, once it has so many tokens.
LONGEST = 3.0
FEWEST = 8
Name = TypeVar("Name", bound=Hashable)
Result = TypeVar("Result")
Range = tuple[float, float | None, float | None]  # a value and its 95 % interval, if there is one


def interleave(
    calls: Mapping[Name, Callable[[int], Result]], rounds: int
) -> Iterator[tuple[int, Name, Result]]:
    """Do everything once a round, in an order that rotates from round to round; stop iterating to
    stop it.

    Args:
        calls: what to do, by name; each is given the number of the round, from 0.
        rounds: how many.

    Returns:
        The round, the name and the result of each call.
    """
    names = deque(calls)
    for number in range(rounds):
        for name in names:
            yield number, name, calls[name](number)
        # Whoever came second last time begins now, so none is always behind the same one.
        names.rotate(-1)


@dataclass(frozen=True)
class TimedRun:
    """One way to decode, timed against plain decoding on the same prompts.

    Args:
        name: what was run.
        speedup: tokens per second over those of plain decoding.
        margin: half-width of the 95 % interval of `speedup` over texts; None for a single text.
        low, high: the smallest and largest speedup on one prompt.
        counts, plain: sums over the counted steps of both.
        tokens_margin: half-width of the 95 % interval of the tokens per pass; None for a single
            text.
        categories: the same of each category of the prompts, if there are several.
    """

    name: str
    speedup: float
    margin: float | None
    low: float
    high: float
    counts: Counts
    plain: Counts
    tokens_margin: float | None = None
    categories: dict[str, TimedRun] = field(default_factory=dict)

    @property
    def interval(self) -> Range:
        """The speedup with both ends of its interval."""
        if self.margin is None:
            return self.speedup, None, None
        return self.speedup, max(0.0, self.speedup - self.margin), self.speedup + self.margin

    @property
    def step_price(self) -> float:
        """Seconds of a step over those of a plain one."""
        return self.counts.seconds_per_step / self.plain.seconds_per_step

    def to_dict(self) -> JsonObject:
        """Plain data; times in milliseconds, "categories" where there are several."""
        counts = self.counts
        plain = self.plain
        data: JsonObject = {
            "tokens_per_pass": counts.tokens_per_pass,
            "tokens_margin": self.tokens_margin,
            "speedup": self.speedup,
            "speedup_margin": self.margin,
            "low": self.low,
            "high": self.high,
            "plain_ms": 1000 * plain.seconds_per_token,
            "step_ms": 1000 * counts.seconds_per_step,
            "parts_ms": {part: 1000 * seconds for part, seconds in counts.step_parts.items()},
            "tokens_per_s": counts.tokens_per_s,
            "plain_tokens_per_s": plain.tokens_per_s,
            "nodes": 1 + counts.drafted,
            "draft_passes": counts.draft_passes_per_step,
            "steps": counts.passes,
        }
        if self.categories:
            data["categories"] = {name: row.to_dict() for name, row in self.categories.items()}
        return data


def summarise(counts: Mapping[str, Sequence[Counts]], texts: Sequence[str]) -> tuple[TimedRun, ...]:
    """Rows of runs, which took turns with plain decoding on texts; an entry where one had no step
    to time is left out.

    Args:
        counts: name -> what was counted in each entry, that of `AUTOREGRESSIVE` as well.
        texts: which text each entry continued; texts are the unit of the intervals.
    """
    # A text counts for all runs or for none: a ratio is of the same texts on both sides.
    usable = []
    for number in range(len(texts)):
        if all(runs[number].timed_passes for runs in counts.values()):
            usable.append(number)
    rows = []
    for name, runs in counts.items():
        if name != AUTOREGRESSIVE and usable:
            plain = counts[AUTOREGRESSIVE]
            rows.append(_timed_run(name, [(texts[i], runs[i], plain[i]) for i in usable]))
    return tuple(rows)


def _timed_run(name: str, timed: Sequence[tuple[str, Counts, Counts]]) -> TimedRun:
    """One row of texts, runs and plain runs, and one of each category of the texts if there are
    several."""
    texts, runs, plain_runs = zip(*timed, strict=True)
    rates = []
    speedups = []
    for _, one, plain in timed:
        speedups.append(one.speedup(plain))
        # The first step reads the prompt, so tokens and seconds are those of the others.
        rates.append((one.timed_tokens, sum(one.seconds), plain.timed_tokens, sum(plain.seconds)))
    categories = {}
    for category, places in by_category(texts).items():
        categories[category] = _timed_run(name, [timed[place] for place in places])
    total = sum(runs, Counts())
    plain_total = sum(plain_runs, Counts())
    return TimedRun(
        name,
        speedup=total.speedup(plain_total),
        # Numbers of sums and not the mean of ratios: a short text counts as much as it has tokens.
        margin=estimate(rates, ratio_of_rates, texts)[1],
        low=min(speedups),
        high=max(speedups),
        counts=total,
        plain=plain_total,
        tokens_margin=estimate([(one.tokens, one.passes) for one in runs], texts=texts)[1],
        categories=categories,
    )


def time_runs(
    runs: Mapping[str, tuple[Pair, RunConfig]],
    prompts: Sequence[str],
    rounds: int = 1,
    uncut: bool = False,
) -> Iterator[Progress[tuple[TimedRun, ...]]]:
    """Time runs in turns with plain decoding; stop iterating to stop it.

    Args:
        runs: name -> a pair and what to run; the pairs have the same target. Prompt `i` is run with
            seed + i.
        prompts: texts to continue, at least one.
        rounds: how often each run continues every prompt.
        uncut: count only steps with room for the whole tree, as a prediction of static trees does.

    Returns:
        Runs done of the total, and a row for each run once the first prompt was continued by all. A
        prompt on which a run had no step to time is left out.

    >>> config = specviz.RunConfig(builder="chain:depth=2", max_new_tokens=9)
    >>> runs = {"chain": (specviz.toy_pair(), config)}
    >>> [(update.done, update.total) for update in time_runs(runs, ["ab"])]
    [(1, 2), (2, 2)]
    """
    pair, config = next(iter(runs.values()))
    runs = {AUTOREGRESSIVE: (pair, config.autoregressive()), **runs}
    for pair, config in runs.values():
        # Weights come to memory, kernels are compiled and caches grow here, outside of the clock.
        few = min(WARM_UP, config.max_new_tokens)
        run(pair, replace(config, prompt=prompts[0], max_new_tokens=few))

    # The prompts move on by one each round, so that none always meets the same order of runs.
    numbers = list(range(len(prompts)))
    places = []
    for shift in range(rounds):
        shift %= len(prompts)
        places += numbers[shift:] + numbers[:shift]

    def decode(pair: Pair, config: RunConfig, number: int) -> Counts:
        place = places[number]
        trace = run(pair, replace(config, prompt=prompts[place], seed=config.seed_after(place)))
        # A prediction is of whole trees, so steps that were cut short near the end do not count.
        if uncut:
            return Counts.of(steps_with_room(trace), uncut=True)
        return trace.counts

    calls = {name: partial(decode, *each) for name, each in runs.items()}
    yield from time_calls(calls, [prompts[place] for place in places])


def steps_with_room(trace: Trace) -> list[Step]:
    """The steps of a run after the first that had room for a tree as deep as the run's deepest.

    The last steps of a run have smaller trees, which is not the tree's doing. Trees that are
    smaller because a drafter had little to say count: how much it has to say goes with how hard a
    place is, so the rest alone would be biased.
    """
    context = trace.stop == "context"
    end = len(trace.prompt_tokens)
    end += len(trace.tokens) if context else trace.config.max_new_tokens
    end = min(end, trace.pair.get("max_positions", end))
    # How deep the builder goes where it has room: a tree that is shallower there was cut off.
    deepest = max((int(Topology(step.parents).depth.max()) for step in trace.steps), default=0)
    return [step for step in trace.steps if step.index > 0 and step.start + 1 + deepest < end]


def time_calls(
    calls: Mapping[str, Callable[[int], Counts]], texts: Sequence[str]
) -> Iterator[Progress[tuple[TimedRun, ...]]]:
    """What `time_runs` returns, of calls that continue a text by its place; `AUTOREGRESSIVE` is one
    of them."""
    counts: dict[str, list[Counts]] = defaultdict(list)
    for done, (number, name, result) in enumerate(interleave(calls, len(texts)), 1):
        counts[name].append(result)
        # Only whole rounds: a text counts once every run has continued it.
        # A round that is under way would compare a run with nothing.
        finished = number + (done % len(calls) == 0)
        yield Progress(done, len(texts) * len(calls), result=summarise(counts, texts[:finished]))


def measure_speedup(
    pair: Pair, config: RunConfig, first: Counts, rounds: int = ROUNDS
) -> Iterator[PairedSpeedup | None]:
    """Time a run that was just made against plain decoding; None after every step, and the result
    after every round.

    Unlike `time_runs`, which asks how good a tree is, this asks how much faster one run was: the
    ratio of a round is of two runs next to each other. `first` is the run itself, the first of its
    repetitions.
    """
    calls = {
        "run": lambda _: speculate(pair, config),
        "plain": lambda _: speculate(pair, config.autoregressive()),
    }
    _, processor, cores = machine()
    counts: dict[str, list[Counts]] = defaultdict(list)
    for number, name, steps in interleave(calls, rounds):
        # Repetitions of one seed write the same text, so a round differs in its time alone.
        total = Counts()
        if (number, name) == (0, "run"):
            # The run that the visitor saw is the first of them, and is not decoded again.
            total = first
            steps = iter(())
        for step in steps:
            total += Counts.of([step])
            yield None
            # A long run need not be repeated to its end: its first seconds say how fast it is.
            if sum(total.seconds) > LONGEST and total.timed_tokens >= FEWEST:
                break
        if not total.tokens_per_s > 0:
            return  # it ended with its first step, so there is nothing to time
        counts[name].append(total)
        if len(counts["run"]) == len(counts["plain"]):
            (row,) = summarise(counts, [""] * len(counts["run"]))
            yield PairedSpeedup(
                row.speedup,
                row.low,
                row.high,
                number + 1,
                row.counts.tokens_per_s,
                row.plain.tokens_per_s,
                first.tokens * row.counts.seconds_per_token,
                first.tokens * row.plain.seconds_per_token,
                date.today().isoformat(),
                f"{processor}, {cores} {'core' if cores == 1 else 'cores'}",
            )
