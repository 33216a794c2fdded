"""Side by side on this machine: transformers' own generation, plain decoding, and every builder.

All methods share one process, one set of weights and the same prompts; their order turns from round to round, and
medians over the rounds are reported, so that a noisy machine disturbs all of them alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median
from time import perf_counter
from typing import Any

import torch

from .builders import BUILDERS
from .config import RunConfig
from .decode import autoregress, run
from .models.huggingface import HuggingFaceModel
from .models.pair import HuggingFacePair
from .protocols import TreeBuilder, Verifier, compatible, suited
from .record import Timing, Trace
from .verifiers import VERIFIERS

PROMPTS = (
    "Once upon a time there was a little girl who",
    "The old man looked out over the sea and",
    "It was a cold and stormy night, and the house",
    '"I do not know," said the King, "what',
    "def read_lines(path):\n    ",
    "class Parser:\n    def __init__(self, text):\n",
    "import os\nimport sys\n\ndef main():\n    parser = ",
    "    for key, value in sorted(self.items()):\n        if ",
    "The ship had been at sea for forty days when",
    "class Cache(dict):\n    def get(self, key, default=None):\n",
)


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
        ratio: tokens per second against the first method's (transformers greedy), round by round.
        seconds: the mean step in seconds as `Timing` splits it; None for transformers.
        overhead: verify + other as a part of the step.
        lossless: whether its text has exactly the target's distribution.
    """

    method: str
    tokens_per_s: float
    tokens_per_pass: float
    ratio: float
    seconds: dict[str, float] | None
    overhead: float | None
    lossless: bool


def bench(
    pair: HuggingFacePair,
    builders: Sequence[TreeBuilder] | None = None,
    verifier: Verifier | None = None,
    prompts: Sequence[str] = PROMPTS,
    config: RunConfig | None = None,
    rounds: int = 3,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Row]:
    """Time every method on the same prompts.

    Args:
        pair: the models.
        builders: what to time besides plain decoding; None means each of the menu with its default parameters that
            goes with the pair and the rule.
        verifier: the rule for all of them; None means the first suited one.
        prompts: texts to continue.
        config: temperature, seed and length; its prompt, builder and verifier are not used.
        rounds: how often each method runs over all prompts.
        progress: is told how many of how many runs are done.

    Raises:
        ValueError: if a builder that was asked for, or every one of the menu, cannot go with the rule.
    """
    config = config or RunConfig(temperature=0.0)
    strategies = _strategies(pair, builders, verifier, config)
    methods = dict(_methods(pair, strategies, config))
    lossy = {name for name, _, _, lossless in strategies if not lossless}
    for method in methods.values():
        method(replace(config, prompt=prompts[0], max_new_tokens=min(16, config.max_new_tokens)))  # warm up
    samples: dict[str, list[Sample]] = {name: [] for name in methods}
    done, total = 0, rounds * len(methods)
    for turn in range(rounds):
        names = list(methods)
        start = turn * len(names) // rounds
        for name in names[start:] + names[:start]:
            samples[name].append(_merge([methods[name](replace(config, prompt=prompt)) for prompt in prompts]))
            done += 1
            progress(done, total)
    baseline = next(iter(samples.values()))
    return [_row(name, found, baseline, name not in lossy) for name, found in samples.items()]


def _strategies(pair, builders, verifier, config) -> list[tuple[str, TreeBuilder, Verifier, bool]]:
    """Name, builder, rule and whether they are lossless, for all that can be timed."""
    found, reasons = [], []
    for builder in builders or menu(pair):
        rule = verifier or VERIFIERS[suited(builder, VERIFIERS, config.temperature)]()
        match = compatible(builder, rule, config.temperature, config.draft_temperature)
        if match.possible:
            found.append((f"{describe(builder)} + {rule.name}", builder, rule, match.lossless))
        else:
            reasons.append(match.reason)
    if reasons and (builders or not found):
        raise ValueError(reasons[0])
    return found


def menu(pair: HuggingFacePair) -> list[TreeBuilder]:
    """Every builder that can work with a pair, with its default parameters."""
    return [cls() for cls in BUILDERS.values() if pair.draft is not None or not cls.reads_draft]


def _methods(pair, strategies, config) -> Iterator[tuple[str, Callable[[RunConfig], Sample]]]:
    kind = "greedy" if config.temperature == 0 else "sampling"
    yield f"transformers {kind}", lambda config: _generate(pair, config, None)
    if isinstance(pair.draft, HuggingFaceModel):
        yield "transformers assisted", lambda config: _generate(pair, config, pair.draft.model)
    yield "plain", lambda config: _sample(autoregress(pair, config))
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


def _row(name: str, samples: list[Sample], baseline: list[Sample], lossless: bool) -> Row:
    rates = [sample.tokens / sample.seconds for sample in samples]
    ratios = [rate / (base.tokens / base.seconds) for rate, base in zip(rates, baseline, strict=True)]
    tokens, passes = sum(s.tokens for s in samples), sum(s.passes for s in samples)
    seconds = overhead = None
    if samples[0].timing is not None:
        seconds = {
            part: median(asdict(s.timing)[part] / s.passes for s in samples) for part in asdict(samples[0].timing)
        }
        overhead = (seconds["verify"] + seconds["other"]) / sum(seconds.values())
    return Row(name, median(rates), tokens / max(passes, 1), median(ratios), seconds, overhead, lossless)


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
