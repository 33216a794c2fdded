"""Does speculation pay for a target, and with which drafter and tree? Calibrate, predict, then time
the best.

Of every drafter the acceptance is measured on the target's own continuations of some prompts and
the costs in the decoding loop. The best trees of all drafters are timed on other prompts in turns
with plain decoding: the verdict is of what was timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from ..base.progress import Progress
from ..config.run_config import RunConfig, default_rule
from ..drafters.base import Drafter
from ..models.base import Pair
from ..verifiers.base import Verifier
from .choose import Candidate, Trial, candidates, diverse, held_out
from .cost_table import CostTable
from .engine_ways import (
    CHAIN,
    BatchForecast,
    EngineWay,
    adaptive_verification,
    engine_rules,
    engine_ways,
)
from .on_text import measure_acceptance
from .profile import Profile
from .texts import Text, continuations
from .this_machine import PROMPT, measure_cost
from .timing import Range, time_runs

SECONDS = 15.0  # of measuring the costs of a drafter
TIMED = 3  # trees that are timed, of all drafters together
OF_EACH = 2  # trees of one drafter that may be among them
Choices = Mapping[str, tuple[Pair, Drafter]]  # name -> a pair and one of its drafters


@dataclass(frozen=True, kw_only=True)
class Option(Trial):
    """A drafter with one tree: what is predicted, and what was timed.

    Attributes:
        name: of the drafter, as it was requested.
        chain: the best chain, for engines that draft no trees.
        tokens: tokens per pass as predicted on held-out texts, with an interval.
        first: the chance that the first child of a node is accepted; texts: how many it was
            measured on.
        busy: cores that other processes used while the costs were measured.
        engines: what engines would do with the drafter, by the way to draft and verify.
        batches: by the number of texts decoded together.
    """

    name: str
    chain: Candidate
    tokens: Range
    first: float
    texts: int
    busy: float = 0.0
    engines: dict[str, EngineWay] = field(default_factory=dict)
    batches: dict[int, BatchForecast] = field(default_factory=dict)

    @property
    def verdict(self) -> str:
        """Whether it "pays", "does-not-pay", or is "undecided": its interval holds 1, or there is
        none."""
        _, low, high = self.speedup
        if low and low > 1:
            return "pays"
        if high and high < 1:
            return "does-not-pay"
        return "undecided"


@dataclass(frozen=True)
class Advice:
    """The options, those that were timed before the predicted ones and the fastest first, and why
    drafters failed."""

    options: tuple[Option, ...] = ()
    failed: dict[str, str] = field(default_factory=dict)


def calibrate(
    pair: Pair,
    rules: Mapping[RunConfig, Sequence[Verifier]],
    texts: Callable[[RunConfig], Iterable[Text]],
    profile: Profile,
    width: int,
    positions: int,
    seconds: float,
) -> Iterator[Progress[Profile]]:
    """Fill a profile: acceptance vectors under each configuration, then the costs under the first
    one.

    Args:
        pair: the models.
        rules: the rules that are measured under each configuration.
        texts: what is measured on, by configuration; `positions` of them are expected.
        profile: what is known before.
        width: most children per position.
        seconds: time limit of the costs; 0 leaves them out.
    """
    # No node has more children than there are tokens.
    width = min(width, pair.vocab_size)
    for config, verifiers in rules.items():
        before = profile.vectors
        stage = f"acceptance at temperature {config.temperature:g}"
        measuring = measure_acceptance(pair, verifiers, texts(config), config, width, positions)
        for update in measuring:
            profile = replace(profile, vectors=(*before, *update.result))
            yield Progress(update.done, update.total, stage, profile)
    if seconds:
        config, verifiers = next(iter(rules.items()))
        of_trees = [rule for rule in verifiers if not rule.chain_only]
        config = replace(config, verifier=(of_trees or verifiers)[0])
        for costs in measure_cost(pair, config, seconds=seconds):
            profile = replace(profile, costs=costs.result)
            yield Progress(costs.done, costs.total, costs.stage, profile)


def advise(
    choices: Choices,
    config: RunConfig,
    prompts: Sequence[str],
    timed: Sequence[str],
    profile: Profile | None = None,
    costs: CostTable | None = None,
    texts: Sequence[int] = (),
) -> Iterator[Progress[Advice]]:
    """Try drafters of one target; stop iterating to stop it.

    Args:
        choices: name -> a pair and one of its drafters; all pairs have the same target.
        config: temperatures, length and seed; its builder, rule and drafter are not used.
        prompts: texts whose continuations are calibrated on.
        timed: other texts, which are timed; none for the prediction alone.
        profile: acceptance and costs from a file, in place of measuring.
        costs: of another machine, in place of measuring; nothing should be timed then.
        texts: numbers of texts decoded together to predict.
    """
    options: list[Option] = []
    failed: dict[str, str] = {}
    for name, (pair, drafter) in choices.items():
        own = replace(config, drafter=drafter, prompt=PROMPT, builder="sequoia")
        # The rule that is lossless for a tree that a vector is planned for.
        own = replace(own, verifier=default_rule(own))
        try:
            if profile:
                profile.check(pair, own)
                measured = profile
            else:
                rules = {own: [own.verifier, *engine_rules(own)]}
                continued = partial(continuations, pair, prompts)
                positions = len(prompts) * config.max_new_tokens
                measured = Profile("measured by advise", pair.info, {"name": drafter.name}, ())
                # Costs of another machine are given; then nothing is measured here but acceptance.
                seconds = SECONDS
                if costs:
                    seconds = 0
                for update in calibrate(pair, rules, continued, measured, 16, positions, seconds):
                    measured = update.result
                    stage = f"{update.stage}: {name}"
                    yield Progress(update.done, update.total, stage, Advice(tuple(options)))
            options += _options(name, own, measured, costs or measured.costs, texts)
        except ValueError as error:
            # One drafter that cannot be used must not end the comparison of the others.
            failed[name] = str(error)
    options.sort(key=_slowness)
    if timed and options:
        for timing in _time(options, choices, timed):
            options = timing.result
            advice = Advice(tuple(options), failed)
            yield Progress(timing.done, timing.total, "timing the best", advice)
    yield Progress(1, 1, "done", Advice(tuple(options), failed))


def _slowness(option: Option) -> float:
    return -option.speedup[0]


def _time(
    options: list[Option], choices: Choices, timed: Sequence[str]
) -> Iterator[Progress[list[Option]]]:
    """Time the first options, and of the best drafter what engines would do; the fastest first."""
    best = options[:TIMED]
    others = options[TIMED:]
    first = best[0]
    # All in one rotation: trees, and what engines would do with the best drafter, share plain
    # decoding.
    runs = {}
    for option in best:
        runs[f"{option.name}, {option.tree.name}"] = choices[option.name][0], option.config
    for way, engine in first.engines.items():
        runs[f"engines, {way}"] = choices[first.name][0], engine.config
    for update in time_runs(runs, timed, uncut=True):
        rows = {row.name: row for row in update.result}
        # Engines were timed in the same rotation, so their rows are among these.
        ways = {}
        for way, engine in first.engines.items():
            ways[way] = replace(engine, timing=rows.get(f"engines, {way}"))
        after = []
        for option in best:
            row = rows.get(f"{option.name}, {option.tree.name}")
            engines = option.engines
            if option.name == first.name:
                engines = ways
            after.append(replace(option, timing=row, engines=engines))
        yield Progress(update.done, update.total, result=[*sorted(after, key=_slowness), *others])


def _options(
    name: str, config: RunConfig, profile: Profile, costs: CostTable | None, texts: Sequence[int]
) -> Iterator[Option]:
    """The best trees of one drafter."""
    if costs is None:
        raise ValueError(
            "the profile has no costs. Run `calibrate` without --no-costs, or give --machine."
        )
    acceptance = profile.vector(config.verifier.name, config.temperature)
    ranked = candidates(acceptance.plan, costs, config)
    promise = held_out(acceptance, costs, config)
    engines = engine_ways(profile, config, costs, texts)
    # Engines verify a chain by a rule of their own, where that was measured.
    chains = acceptance
    if CHAIN in engines:
        chains = profile.vector(engines[CHAIN].config.verifier.name, config.temperature)
    batches = {}
    for count in texts:
        # The best tree for many texts is smaller, as their passes are no longer free.
        shared = costs.per_text(count)
        best = candidates(acceptance.plan, shared, config)[0]
        speedup, *_ = promise.speedup(best, shared)
        adaptive = adaptive_verification(chains, costs, count)
        batches[count] = BatchForecast(best.name, speedup, *adaptive)
    for tree in diverse(ranked, OF_EACH):
        yield Option(
            config=replace(config, builder=tree.builder),
            tree=tree,
            predicted=promise.speedup(tree, costs),
            name=name,
            chain=next((tree for tree in ranked if tree.builder.is_chain), ranked[0]),
            tokens=promise.tokens(tree.predicted),
            first=acceptance.acceptance[0],
            texts=promise.texts,
            busy=costs.settings.get("busy_cores", 0.0),
            engines=engines,
            batches=batches,
        )


def reason(option: Option) -> str:
    """Why it is as fast as it is: tokens a pass against the price of a step, in plain steps."""
    if option.timing:
        counts = option.timing.counts
        price = option.timing.step_price
        tokens = counts.tokens_per_pass
        parts = dict(counts.step_parts)
        parts["overhead"] = parts.pop("verify") + parts.pop("other")
    else:
        predicted = option.tree.predicted
        tokens = option.tokens[0]
        price = predicted.price
        parts = predicted.parts
    # In plain steps: the price is known, and the parts say how it splits.
    parts = {part: price * spent / sum(parts.values()) for part, spent in parts.items()}
    # The target's pass costs a plain step in any case.
    dearest = max(parts, key=lambda part: parts[part] - (part == "target"))
    if tokens > price:
        advice = ""
    elif option.first < 0.3:
        advice = (
            " The draft is too far from the target: check chat template and tokenizer, or "
            "choose another."
        )
    elif dearest == "target":
        advice = " Reading several tokens at once is expensive on this machine."
    else:
        advice = f" The {dearest} is too expensive for what is accepted."
    listed = ", ".join(f"{part} {spent:.2f}" for part, spent in parts.items())
    return (
        f"A step writes {tokens:.2f} tokens and costs {price:.2f} plain steps ({listed}); "
        f"the first draft token is accepted {option.first:.0%} of the time.{advice}"
    )
