"""Does speculation pay for a target, and with which drafter and tree? Calibrate, predict, then time the best.

Of every drafter the acceptance is measured on the target's own continuations of some prompts and the costs in the
decoding loop. The best trees of all drafters are timed on other prompts in turns with plain decoding: the verdict is
of what was timed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from .. import BUILDERS, RunConfig
from ..acceptance.on_text import measure_acceptance
from ..acceptance.progress import Progress
from ..acceptance.texts import Text, continuations
from ..compatibility import suited
from ..drafters.base import Drafter
from ..models.base import Pair
from ..planning.choose import Candidate, candidates, different, held_out
from ..planning.cost_table import CostTable
from ..planning.engine_flags import EngineSettings, engine_flags
from ..planning.profile import Profile
from ..verifiers.base import Verifier
from .measure_cost import PROMPT, measure_cost
from .timing import TimedRun, time_runs

SECONDS = 15.0  # of measuring the costs of a drafter
TIMED = 3  # trees that are timed, of all drafters together
OF_EACH = 2  # trees of one drafter that may be among them
PART = 1000  # of the progress, for each drafter, each temperature, the costs and the timing
Verdict = Literal["pays", "does-not-pay", "undecided"]
Range = tuple[float, float | None, float | None]


@dataclass(frozen=True)
class Option:
    """A drafter with one tree: what is predicted, and what was timed.

    Attributes:
        name: of the drafter, as it was requested; config: what is run.
        tree: the tree, as the vector predicts it; chain: the best chain, for engines that draft no trees.
        speedup, tokens: predicted on held-out texts, each with its 95 % interval (None for a single text).
        first: the chance that the first child of a node is accepted; texts: how many it was measured on.
        by_texts: number of texts decoded together -> the best tree and its predicted speedup.
        busy: cores that other processes used while the costs were measured.
        timing: None where it was not timed.
    """

    name: str
    config: RunConfig
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


def calibrate(
    pair: Pair, rules: Mapping[RunConfig, Sequence[Verifier]], texts: Callable[[RunConfig], Iterable[Text]],
    profile: Profile, width: int, positions: int, seconds: float,
) -> Iterator[Progress[Profile]]:  # fmt: skip
    """Fill a profile: acceptance vectors under each configuration, then the costs under the first one.

    Args:
        pair: the models.
        rules: the rules that are measured under each configuration.
        texts: what is measured on, by configuration; `positions` of them are expected.
        profile: what is known before.
        width: most children per position.
        seconds: time limit of the costs; 0 leaves them out.
    """
    total = PART * (len(rules) + (seconds > 0))
    for place, (config, verifiers) in enumerate(rules.items()):
        before = profile.vectors
        width = min(width, pair.vocab_size)
        for update in measure_acceptance(pair, verifiers, texts(config), config, width, positions=positions):
            profile = replace(profile, vectors=(*before, *update.result))
            done = PART * place + PART * update.done // update.total
            yield Progress(done, total, f"acceptance at temperature {config.temperature:g}", profile)
    config, verifiers = next(iter(rules.items()))
    config = replace(config, verifier=next((rule for rule in verifiers if not rule.chain_only), verifiers[0]))
    for costs in measure_cost(pair, config, seconds=seconds) if seconds else ():
        profile = replace(profile, costs=costs.result)
        yield Progress(total - PART + PART * costs.done // costs.total, total, costs.stage, profile)


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
    total = PART * (len(choices) + bool(timed))
    for place, (name, (pair, drafter)) in enumerate(choices.items()):
        own = replace(config, drafter=drafter, prompt=PROMPT, builder=BUILDERS["sequoia"]())
        own = replace(own, verifier=suited(own))
        measured = profile or Profile("measured by advise", pair.info, {"name": drafter.name}, ())
        texts_of, positions = partial(continuations, pair, prompts), len(prompts) * config.max_new_tokens
        seconds = 0 if costs else SECONDS
        updates = calibrate(pair, {own: [own.verifier]}, texts_of, measured, 16, positions, seconds)
        try:
            for update in () if profile else updates:
                measured = update.result
                done = PART * place + PART * update.done // update.total
                yield Progress(done, total, f"{update.stage}: {name}", Advice(tuple(options)))
            if profile:
                profile.check(pair, own)
            options += _options(name, own, measured, costs or measured.costs, texts)
        except ValueError as error:
            failed.append((name, str(error)))
    options.sort(key=lambda one: -one.speedup[0])
    best, rest = options[:TIMED], options[TIMED:]
    runs = {f"{one.name}, {one.tree.name}": (choices[one.name][0], one.config) for one in best}
    for timing in time_runs(runs, timed, whole=True) if runs and timed else ():
        rows = {row.name: row for row in timing.result}
        best = [replace(one, timing=rows.get(name)) for name, one in zip(runs, best, strict=True)]
        ranked = sorted(best, key=lambda one: -(one.timing.speedup if one.timing else one.speedup[0]))
        done = total - PART + PART * timing.done // timing.total
        yield Progress(done, total, "timing the best", Advice((*ranked, *rest), tuple(failed)))
        options = [*ranked, *rest]
    yield Progress(total, total, "done", Advice(tuple(options), tuple(failed)))


def _options(
    name: str, config: RunConfig, profile: Profile, costs: CostTable | None, texts: Sequence[int]
) -> Iterator[Option]:
    """The best trees of one drafter."""
    if costs is None:
        raise ValueError("the profile has no costs. Run `calibrate` without --no-costs, or give --machine.")
    acceptance = profile.vector(config.verifier.name, config.temperature)
    ranked = candidates(acceptance.plan, costs, config)
    promise = held_out(acceptance, costs, config)
    chain = next((one for one in ranked if not one.builder.shape.rank.any()), ranked[0])
    by_texts = {}
    for count in texts:
        best = candidates(acceptance.plan, costs.per_text(count), config)[0]
        by_texts[count] = best.name, promise.speedup(best, costs.per_text(count))[0]
    for tree in different(ranked, OF_EACH):
        yield Option(
            name, replace(config, builder=tree.builder), tree, chain, promise.speedup(tree, costs),
            promise.tokens(tree.predicted), acceptance.acceptance[0], promise.texts, by_texts,
            costs.settings.get("busy_cores", 0.0),
        )  # fmt: skip


def verdict_of(option: Option | None) -> tuple[Verdict, tuple[float, float] | None]:
    """Whether it pays, and the 95 % interval of its speedup; "undecided" where that holds 1 or is not known."""
    low = high = None
    if option and option.timing is None:
        _, low, high = option.speedup
    elif option and option.timing and option.timing.margin is not None:
        low, high = option.timing.speedup - option.timing.margin, option.timing.speedup + option.timing.margin
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
    drafter = "early-exit" if option.name.startswith("early-exit") else option.config.drafter.name
    return engine_flags(drafter, option.name, option.chain.builder.shape, option.tree.builder.shape)


def to_dict(option: Option) -> dict[str, Any]:
    """An option as plain data."""
    timing = option.timing
    measured = timing and {
        "speedup": timing.speedup, "margin": timing.margin, "tokens_per_pass": timing.counts.tokens_per_pass,
        "tokens_margin": timing.tokens_margin, "step_s": timing.counts.seconds_per_step,
        "step_price": timing.step_price, "parts": timing.counts.step_parts, "steps": timing.counts.passes,
    }  # fmt: skip
    return {
        "draft": option.name, "drafter": option.config.drafter.name, "verifier": option.config.verifier.name,
        "tree": option.tree.name,
        "nodes": option.tree.predicted.size, "first_child": option.first, "predicted": option.speedup,
        "predicted_tokens_per_pass": option.tokens, "predicted_price": option.tree.predicted.price,
        "texts": option.texts, "by_texts": option.by_texts, "busy_cores": option.busy, "measured": measured,
    }  # fmt: skip
