"""Side by side on this machine: plain decoding, every builder, and transformers' own generation.

All methods share one process, one set of weights and the same prompts. Each prompt of a round is decoded by every
method in an order that turns, a round's speeds are compared with one another, and medians over the rounds of these
ratios are reported: whatever else the machine does then disturbs both sides of a ratio alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import torch

from ..builders import BUILDERS
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
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
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Row]:
    """Time every method on the same prompts.

    Args:
        pair: the models.
        builders: what to time besides plain decoding; None means each of the menu with its default parameters that
            goes with the pair and the rule.
        verifier: the rule for all of them, or several to go with each; None means the first suited one.
        prompts: texts to continue, at least one.
        config: temperature, seed and length; its prompt, builder and verifier are not used.
        rounds: how often each method runs over all prompts.
        progress: is told how many of how many runs are done.

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
    done, total = 0, rounds * len(prompts) * len(methods)
    for turn in range(rounds):
        found: dict[str, list[Sample]] = {name: [] for name in methods}
        for number, prompt in enumerate(prompts, turn):
            names = list(methods)
            start = number % len(names)
            for name in names[start:] + names[:start]:
                found[name].append(methods[name](replace(config, prompt=prompt)))
                done += 1
                progress(done, total)
        for name, runs in found.items():
            samples[name].append(_merge(runs))
    return [_row(name, samples, name not in lossy) for name in methods]


def _strategies(pair, builders, verifier, config) -> list[tuple[str, TreeBuilder, Verifier, bool]]:
    """Name, builder, rule and whether they are lossless, for all that can be timed."""
    found, lone = [], None
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


def _methods(pair, strategies, config) -> Iterator[tuple[str, Callable[[RunConfig], Sample]]]:
    kind = "greedy" if config.temperature == 0 else "sampling"
    yield PLAIN, lambda config: _sample(autoregress(pair, config))
    yield f"{OTHERS} {kind}", lambda config: _generate(pair, config, None)
    if isinstance(pair.draft, HuggingFaceModel):
        yield f"{OTHERS} assisted", lambda config: _generate(pair, config, pair.draft.model)
    for name, builder, rule, _ in strategies:
        parts = dict(builder=builder, verifier=rule)
        yield name, lambda config, parts=parts: _sample(run(pair, replace(config, **parts)))


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
    ids, room = _prompt(pair, config)
    passes = []
    counter = model.register_forward_pre_hook(lambda *_: passes.append(1))
    sampling = {"do_sample": False}
    if config.temperature > 0:
        torch.manual_seed(config.seed)
        sampling = dict(do_sample=True, temperature=config.temperature, top_p=config.top_p, top_k=config.top_k or 0)
    try:
        began = perf_counter()
        with torch.inference_mode():
            out = model.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=room,
                assistant_model=assistant, pad_token_id=min(pair.eos_ids, default=0), **sampling,
            )  # fmt: skip
        seconds = perf_counter() - began
    finally:
        counter.remove()
    return Sample(out.shape[1] - ids.shape[1], len(passes), seconds)


def _merge(samples: list[Sample]) -> Sample:
    timings = [sample.timing for sample in samples if sample.timing is not None]
    timing = Timing(*map(sum, zip(*(asdict(t).values() for t in timings), strict=True))) if timings else None
    return Sample(
        sum(s.tokens for s in samples), sum(s.passes for s in samples), sum(s.seconds for s in samples), timing
    )  # fmt: skip


def _prompt(pair: HuggingFacePair, config: RunConfig) -> tuple[torch.Tensor, int]:
    """The prompt as transformers takes it, and how many tokens a run may write after it."""
    ids = pair.encode(config.prompt)
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
    if mine[0].timing is not None:
        seconds = {part: median(asdict(s.timing)[part] / s.passes for s in mine) for part in asdict(mine[0].timing)}
        overhead = (seconds["verify"] + seconds["other"]) / sum(seconds.values())
    return Row(
        name, median(speedups), min(speedups), max(speedups), median(s.tokens / s.seconds for s in mine),
        tokens / max(passes, 1), against, seconds, overhead, lossless,
    )  # fmt: skip


def _ratios(samples: list[Sample], base: list[Sample]) -> list[float]:
    """How many times as many tokens per second, round by round."""
    return [a.tokens * b.seconds / (a.seconds * b.tokens) for a, b in zip(samples, base, strict=True)]


@dataclass(frozen=True)
class Difference:
    """Where a greedy text first leaves transformers' own.

    Attributes:
        position: index of the token among the new ones; margin: how far apart the two best logits are there.
    """

    method: str
    prompt: str
    position: int
    margin: float


def greedy_differences(
    pair: HuggingFacePair,
    prompts: Sequence[str],
    max_new_tokens: int = 128,
    builders: Sequence[TreeBuilder] | None = None,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Difference]:
    """Compare every builder's text at temperature 0 with transformers' greedy `generate`, token by token.

    Args:
        pair: the models, in float32 where equality is expected.
        prompts: texts to continue.
        max_new_tokens: how far.
        builders: None means each of the menu that goes with the pair.
        progress: is told how many of how many prompts are done.

    Returns:
        The first difference of each text that differs; [] is what should come back.
    """
    found = []
    builders = builders or menu(pair)
    rule = VERIFIERS["exact-match"]()
    for done, prompt in enumerate(prompts, 1):
        config = RunConfig(prompt, temperature=0.0, verifier=rule, max_new_tokens=max_new_tokens)
        wanted = _greedy_tokens(pair, config)
        texts = {"plain": autoregress(pair, config).tokens}
        texts |= {describe(builder): run(pair, replace(config, builder=builder)).tokens for builder in builders}
        for method, tokens in texts.items():
            if list(tokens) != wanted:
                same = next(
                    (i for i, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b),
                    min(len(tokens), len(wanted)),
                )
                found.append(Difference(method, prompt, same, _margin(pair, [*pair.encode(prompt), *wanted[:same]])))
        progress(done, len(prompts))
    return found


def _greedy_tokens(pair: HuggingFacePair, config: RunConfig) -> list[int]:
    ids, room = _prompt(pair, config)
    with torch.inference_mode():
        out = pair.target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=room, do_sample=False,
            pad_token_id=min(pair.eos_ids, default=0),
        )  # fmt: skip
    return out[0, ids.shape[1] :].tolist()


def _margin(pair: HuggingFacePair, tokens: list[int]) -> float:
    with torch.inference_mode():
        logits = pair.target.model(torch.tensor([tokens], device=pair.target.device)).logits[0, -1]
    best = torch.topk(logits.float(), 2).values
    return float(best[0] - best[1])
