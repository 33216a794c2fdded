"""Does speculation pay for a target, and with which drafter and tree? Calibrate, predict, then time the best.

Of every drafter the acceptance is measured on the target's own continuations of some prompts and the costs in the
decoding loop. The best trees of all drafters are timed on other prompts in turns with plain decoding: the verdict is
of what was timed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ..acceptance.on_text import measure_acceptance
from ..acceptance.progress import Progress
from ..acceptance.texts import continuations
from ..builders import BUILDERS
from ..compatibility import suited
from ..config import RunConfig
from ..drafters.base import Drafter
from ..models.base import Pair
from ..planning.choose import Candidate, candidates, different, held_out
from ..planning.cost_table import CostTable
from ..planning.engine_flags import EngineSettings, engine_flags
from ..planning.profile import Profile
from .measure_cost import PROMPT, measure_cost
from .timing import TimedRun, time_runs

SECONDS = 15.0  # of measuring the costs of a drafter
TIMED = 3  # trees that are timed, of all drafters together
OF_EACH = 2  # trees of one drafter that may be among them
Verdict = Literal["pays", "does-not-pay", "undecided"]
Range = tuple[float, float | None, float | None]


@dataclass(frozen=True)
class Option:
    """A drafter with one tree: what is predicted, and what was timed.

    Attributes:
        name: of the drafter, as it was requested; drafter, verifier: menu names.
        tree: the tree, as the vector predicts it; chain: the best chain, for engines that draft no trees.
        speedup, tokens: predicted on held-out texts, each with its 95 % interval (None for a single text).
        first: the chance that the first child of a node is accepted; texts: how many it was measured on.
        by_texts: number of texts decoded together -> the best tree and its predicted speedup.
        busy: cores that other processes used while the costs were measured.
        timing: None where it was not timed.
    """

    name: str
    drafter: str
    verifier: str
    tree: Candidate
    chain: Candidate
    speedup: Range
    tokens: Range
    first: float
    texts: int
    by_texts: dict[int, tuple[str, float]] = field(default_factory=dict)
    busy: float = 0.0
    timing: TimedRun | None = None


@dataclass(frozen=True)
class Advice:
    """The options, the fastest first, and the drafters that cannot be used, each with a sentence why."""

    options: tuple[Option, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()

    @property
    def best(self) -> Option | None:
        """The fastest of those that were timed, or else of the predictions."""
        return self.options[0] if self.options else None


def advise(
    choices: Mapping[str, tuple[Pair, Drafter]],
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
    failed: list[tuple[str, str]] = []
    each, total = len(prompts) + 1, len(choices) * (len(prompts) + 1) + (TIMED + 1) * len(timed)
    for place, (name, (pair, drafter)) in enumerate(choices.items()):
        own = replace(config, drafter=drafter, prompt=PROMPT, builder=BUILDERS["sequoia"]())
        own = replace(own, verifier=suited(own))
        try:
            measured = profile
            for update in () if profile else _measure(pair, own, prompts, costs):
                measured = update.result
                yield Progress(place * each + update.done, total, f"{update.stage}: {name}", Advice(tuple(options)))
            assert measured  # or `_measure` raises
            if profile:
                profile.check(pair, own)
            options += _options(name, own, measured, costs or measured.costs, texts)
        except ValueError as error:
            failed.append((name, str(error)))
    advice = Advice(tuple(sorted(options, key=lambda one: -one.speedup[0])), tuple(failed))
    best, rest = advice.options[:TIMED], advice.options[TIMED:]
    runs = {
        f"{one.name}, {one.tree.name}": (
            choices[one.name][0],
            replace(config, drafter=choices[one.name][1], verifier=one.verifier, builder=one.tree.builder),
        )
        for one in best
    }
    if runs and timed:
        for timing in time_runs(runs, timed, whole=True):
            rows = {row.name: row for row in timing.result}
            measured_best = [replace(one, timing=rows.get(name)) for name, one in zip(runs, best, strict=True)]
            measured_best.sort(key=lambda one: -(one.timing.speedup if one.timing else one.speedup[0]))
            advice = replace(advice, options=(*measured_best, *rest))
            yield Progress(total - timing.total + timing.done, total, "timing the best", advice)
    yield Progress(total, total, "done", advice)


def _measure(
    pair: Pair, config: RunConfig, prompts: Sequence[str], costs: CostTable | None
) -> Iterator[Progress[Profile]]:
    """Acceptance on continuations of prompts, then costs unless they are given."""
    rule, drafter = config.verifier, config.drafter
    profile = Profile("measured by advise", pair.info, {"name": drafter.name}, (), costs)
    texts = continuations(pair, prompts, config)
    for done, update in enumerate(measure_acceptance(pair, [rule], texts, config, min(16, pair.vocab_size)), 1):
        profile = replace(profile, vectors=update.result)
        yield Progress(done, len(prompts) + 1, "measuring acceptance", profile)
    if costs is None:
        for costing in measure_cost(pair, config, seconds=SECONDS):
            profile = replace(profile, costs=costing.result or profile.costs)
            yield Progress(len(prompts), len(prompts) + 1, "measuring costs", profile)


def _options(
    name: str, config: RunConfig, profile: Profile, costs: CostTable | None, texts: Sequence[int]
) -> Iterator[Option]:
    """The best trees of one drafter."""
    if costs is None:
        raise ValueError("the profile has no costs. Run `calibrate` without --no-costs, or give --machine.")
    rule, drafter = config.verifier, config.drafter
    acceptance = profile.vector(rule.name, config.temperature)
    ranked = candidates(acceptance.plan, costs, config)
    promise = held_out(acceptance, costs, config)
    chain = next((one for one in ranked if not one.builder.shape.rank.any()), ranked[0])
    by_texts = {}
    for count in texts:
        best = candidates(acceptance.plan, costs.per_text(count), config)[0]
        by_texts[count] = best.name, promise.speedup(best, costs.per_text(count))[0]
    for tree in different(ranked, OF_EACH):
        yield Option(
            name, drafter.name, rule.name, tree, chain, promise.speedup(tree, costs), promise.tokens(tree.predicted),
            acceptance.acceptance[0], promise.texts, by_texts, costs.settings.get("busy_cores", 0.0),
        )  # fmt: skip


def verdict_of(option: Option | None) -> tuple[Verdict, tuple[float, float] | None]:
    """Whether it pays, and the 95 % interval of its speedup; "undecided" where that holds 1 or is not known."""
    if option is None or (option.timing and option.timing.margin is None):
        return "undecided", None
    _, low, high = option.speedup
    if (timing := option.timing) and timing.margin is not None:
        low, high = timing.speedup - timing.margin, timing.speedup + timing.margin
    if low is None or high is None:
        return "undecided", None
    return ("pays" if low > 1 else "does-not-pay" if high < 1 else "undecided"), (max(0.0, low), high)


def reason(option: Option) -> str:
    """Why it is as fast as it is: tokens a pass against the price of a step, in plain steps."""
    if timing := option.timing:
        tokens, price, parts = timing.counts.tokens_per_pass, timing.step_price, dict(timing.counts.step_parts)
        parts["overhead"] = parts.pop("verify") + parts.pop("other")
    else:
        tokens, price, parts = option.tokens[0], option.tree.predicted.price, option.tree.predicted.parts
    shares = {part: price * spent / sum(parts.values()) for part, spent in parts.items()}
    dearest = max(("draft", "overhead"), key=lambda part: shares[part])
    listed = ", ".join(f"{part} {share:.2f}" for part, share in shares.items())
    sentence = (
        f"A step writes {tokens:.2f} tokens and costs {price:.2f} plain steps ({listed}); the first draft token is "
        f"accepted {option.first:.0%} of the time."
    )
    if tokens > price:
        return sentence
    if option.first < 0.3:
        return f"{sentence} The draft is too far from the target: check chat template and tokenizer, or choose another."
    if shares["target"] > 1.5 and shares["target"] > shares[dearest]:
        return f"{sentence} Reading several tokens at once is expensive on this machine."
    return f"{sentence} The {dearest} is too expensive for what is accepted."


def engines_for(option: Option) -> tuple[EngineSettings, ...]:
    """The nearest settings of other engines."""
    shape, early = option.tree.builder.shape, option.name.startswith("early-exit")
    return engine_flags(
        "early-exit" if early else option.drafter, option.name, len(option.chain.builder.shape) - 1, len(shape),
        int(shape.depth.max()), max(map(len, shape.children)),
    )  # fmt: skip


def to_dict(option: Option) -> dict[str, Any]:
    """An option as plain data."""
    timing = option.timing
    measured = timing and {
        "speedup": timing.speedup, "margin": timing.margin, "tokens_per_pass": timing.counts.tokens_per_pass,
        "tokens_margin": timing.tokens_margin, "step_s": timing.counts.seconds_per_step,
        "step_price": timing.step_price, "parts": timing.counts.step_parts, "steps": timing.counts.passes,
    }  # fmt: skip
    return {
        "draft": option.name, "drafter": option.drafter, "verifier": option.verifier, "tree": option.tree.name,
        "nodes": option.tree.predicted.size, "first_child": option.first, "predicted": option.speedup,
        "predicted_tokens_per_pass": option.tokens, "predicted_price": option.tree.predicted.price,
        "texts": option.texts, "by_texts": option.by_texts, "busy_cores": option.busy, "measured": measured,
    }  # fmt: skip
