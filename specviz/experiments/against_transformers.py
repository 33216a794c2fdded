"""Side by side on this machine: plain decoding, every builder, and transformers' own generation.

All methods share one process, one set of weights and the same prompts. Each prompt of a round is decoded by every
method in an order that turns, a round's speeds are compared with one another, and medians over the rounds of these
ratios are reported: whatever else the machine does then disturbs both sides of a ratio alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from logging import LogRecord, getLogger
from statistics import median
from time import perf_counter
from typing import Any

import torch

from ..builders import BUILDERS
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
from ..measure.so_far import SoFar
from ..models.pair import HuggingFacePair
from ..passes.session import HuggingFaceModel
from ..protocols import TreeBuilder, Verifier
from ..record import Timing, Trace
from ..verifiers import VERIFIERS

PLAIN, OTHERS = "plain", "transformers"


@dataclass(frozen=True)
class Sample:
    """One run of one method: tokens written, passes of the target, seconds, and where they went if that is known."""

    tokens: int
    passes: int
    seconds: float
    timing: Timing | None = None


@dataclass(frozen=True)
class Row:
    """One method: medians over the rounds.

    Attributes:
        speedup: tokens per second against this project's own plain decoding in the same round; `low` and `high` are
            its smallest and largest round.
        against: the same against each of transformers' ways to generate, by their names here.
        seconds: the mean step in seconds as `Timing` splits it; None for transformers.
        overhead: verify + other as a part of the step.
        lossless: whether its text has exactly the target's distribution.
    """

    method: str
    speedup: float
    low: float
    high: float
    tokens_per_s: float
    tokens_per_pass: float
    against: dict[str, float]
    seconds: dict[str, float] | None
    overhead: float | None
    lossless: bool


def bench(
    pair: HuggingFacePair,
    builders: Sequence[TreeBuilder] | None = None,
    verifier: Verifier | Sequence[Verifier] | None = None,
    prompts: Sequence[str] = (),
    config: RunConfig | None = None,
    rounds: int = 3,
) -> Iterator[SoFar[tuple[Row, ...]]]:
    """Time every method on the same prompts; stop by not asking for more.

    Args:
        pair: the models.
        builders: what to time besides plain decoding; None means each of the menu with its default parameters that
            goes with the pair and the rule.
        verifier: the rule for all of them, or several to go with each; None means the first suited one.
        prompts: texts to continue, at least one.
        config: temperature, seed and length; its prompt, builder and verifier are not used.
        rounds: how often each method runs over all prompts.

    Returns:
        Runs done, of how many, and a row for each method: over the prompts so far in the first round, over whole
        rounds after it; none before the first prompt.

    Raises:
        ValueError: if there is no prompt, or a builder that was asked for, or every one of the menu, cannot go with
            the rule.
    """
    config = config or RunConfig(temperature=0.0)
    if not prompts:
        raise ValueError("prompts must hold at least one text to continue; got none.")
    strategies = _strategies(pair, builders, verifier, config)
    methods = dict(_methods(pair, strategies, config))
    lossy = {name for name, _, _, lossless in strategies if not lossless}
    for method in methods.values():
        method(replace(config, prompt=prompts[0], max_new_tokens=min(16, config.max_new_tokens)))  # warm up
    samples: dict[str, list[Sample]] = {name: [] for name in methods}
    rows: tuple[Row, ...] = ()
    done, of = 0, rounds * len(prompts) * len(methods)
    for turn in range(rounds):
        found: dict[str, list[Sample]] = {name: [] for name in methods}
        for number, prompt in enumerate(prompts, turn):
            names = list(methods)
            start = number % len(names)
            for name in names[start:] + names[:start]:
                if done:
                    yield SoFar(done, of, rows)
                found[name].append(methods[name](replace(config, prompt=prompt)))
                done += 1
            if turn == 0 or number == turn + len(prompts) - 1:
                rounds_so_far = {name: [*samples[name], _merge(runs)] for name, runs in found.items()}
                rows = tuple(_row(name, rounds_so_far, name not in lossy) for name in methods)
        samples = rounds_so_far
    yield SoFar(done, of, rows)


Strategy = tuple[str, TreeBuilder, Verifier, bool]


def _strategies(
    pair: HuggingFacePair,
    builders: Sequence[TreeBuilder] | None,
    verifier: Verifier | Sequence[Verifier] | None,
    config: RunConfig,
) -> list[Strategy]:
    """Name, builder, rule and whether they are lossless, for all that can be timed."""
    found: list[Strategy] = []
    lone = None
    rules = list(verifier) if isinstance(verifier, Sequence) else [verifier]
    for builder in builders or menu(pair):
        before, reason = len(found), None
        for rule in rules:
            rule = rule or VERIFIERS[suited(builder, VERIFIERS, config.temperature)]()
            match = compatible(builder, rule, config.temperature, config.draft_temperature)
            if match.possible:
                found.append((f"{describe(builder)} + {rule.name}", builder, rule, match.lossless))
            else:
                reason = match.reason
        lone = lone or (reason if len(found) == before else None)  # it goes with none of the rules
    if lone and (builders or not found):
        raise ValueError(lone)
    return found


def menu(pair: HuggingFacePair) -> list[TreeBuilder]:
    """Every builder that can work with a pair, with its default parameters."""
    drafted = pair.draft is not None
    return [cls() for cls in BUILDERS.values() if not cls.alone and (drafted or not cls.reads_draft)]


def _methods(
    pair: HuggingFacePair, strategies: Sequence[Strategy], config: RunConfig
) -> Iterator[tuple[str, Callable[[RunConfig], Sample]]]:
    kind = "greedy" if config.temperature == 0 else "sampling"
    yield PLAIN, lambda config: _sample(autoregress(pair, config))
    yield f"{OTHERS} {kind}", lambda config: _generate(pair, config, None)
    if isinstance(draft := pair.draft, HuggingFaceModel):
        yield f"{OTHERS} assisted", lambda config: _generate(pair, config, draft.model)
    for name, builder, rule, _ in strategies:
        yield name, partial(_decoded, pair, builder, rule)


def _decoded(pair: HuggingFacePair, builder: TreeBuilder, rule: Verifier, config: RunConfig) -> Sample:
    return _sample(run(pair, replace(config, builder=builder, verifier=rule)))


def describe(builder: TreeBuilder) -> str:
    """A builder's name with those of its parameters that are numbers."""
    numbers = [f"{name} {value}" for name, value in asdict(builder).items() if type(value) in (int, float)]
    return f"{builder.name} ({', '.join(numbers)})" if numbers else builder.name


def _sample(trace: Trace) -> Sample:
    sums = [sum(getattr(step.seconds, part) for step in trace.steps) for part in ("draft", "target", "verify", "other")]
    return Sample(len(trace.tokens), len(trace.steps), trace.seconds, Timing(*sums))


def _generate(pair: HuggingFacePair, config: RunConfig, assistant: Any) -> Sample:
    """transformers' own `generate` with the same weights."""
    model = pair.target.model
    ids, room = prompt_of(pair, config)
    passes = []
    counter = model.register_forward_pre_hook(lambda *_: passes.append(1))
    sampling: dict[str, Any] = {"do_sample": False}
    if config.temperature > 0:
        torch.manual_seed(config.seed)
        sampling = dict(do_sample=True, temperature=config.temperature, top_p=config.top_p, top_k=config.top_k or 0)
    try:
        began = perf_counter()
        with torch.inference_mode(), _without_its_own_warning():
            out = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=room,
                assistant_model=assistant, pad_token_id=min(pair.eos_ids, default=0), **sampling,
            )  # fmt: skip
        seconds = perf_counter() - began
    finally:
        counter.remove()
    return Sample(out.shape[1] - ids.shape[1], len(passes), seconds)


@contextmanager
def _without_its_own_warning() -> Iterator[None]:
    """Drop the deprecation warning about the arguments that transformers itself gives its assistant."""
    log = getLogger("transformers.generation.utils")

    def keep(record: LogRecord) -> bool:
        return "together with generation-related arguments" not in record.getMessage()

    log.addFilter(keep)
    try:
        yield
    finally:
        log.removeFilter(keep)


def _merge(samples: list[Sample]) -> Sample:
    timings = [sample.timing for sample in samples if sample.timing is not None]
    timing = Timing(*map(sum, zip(*(asdict(t).values() for t in timings), strict=True))) if timings else None
    return Sample(
        sum(s.tokens for s in samples), sum(s.passes for s in samples), sum(s.seconds for s in samples), timing
    )  # fmt: skip


def prompt_of(pair: HuggingFacePair, config: RunConfig) -> tuple[torch.Tensor, int]:
    """The prompt as transformers takes it, and how many tokens a run may write after it."""
    prompt = config.prompt
    ids = pair.encode(prompt) if isinstance(prompt, str) else list(prompt)
    room = min(config.max_new_tokens, pair.max_positions - len(ids))
    if room < 1:
        raise ValueError(f"prompts must be shorter than {pair.max_positions} tokens, the context; got {len(ids)}.")
    return torch.tensor([ids], device=pair.target.device), room


def _row(name: str, samples: dict[str, list[Sample]], lossless: bool) -> Row:
    mine = samples[name]
    speedups = _ratios(mine, samples[PLAIN])
    against = {other: median(_ratios(mine, runs)) for other, runs in samples.items() if other.startswith(OTHERS)}
    tokens, passes = sum(s.tokens for s in mine), sum(s.passes for s in mine)
    seconds = overhead = None
    timed = [(asdict(s.timing), s.passes) for s in mine if s.timing is not None]
    if timed:
        seconds = {part: median(timing[part] / passes for timing, passes in timed) for part in timed[0][0]}
        overhead = (seconds["verify"] + seconds["other"]) / sum(seconds.values())
    return Row(
        name, median(speedups), min(speedups), max(speedups), median(s.tokens / s.seconds for s in mine),
        tokens / max(passes, 1), against, seconds, overhead, lossless,
    )  # fmt: skip


def _ratios(samples: list[Sample], base: list[Sample]) -> list[float]:
    """How many times as many tokens per second, round by round."""
    return [a.tokens * b.seconds / (a.seconds * b.tokens) for a, b in zip(samples, base, strict=True)]
