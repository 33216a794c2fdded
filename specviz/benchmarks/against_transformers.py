"""Compare plain decoding, every builder, and generation with transformers on this machine.

All methods share one process, one set of weights and the same prompts, and take turns prompt by prompt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from logging import LogRecord, getLogger
from time import perf_counter
from typing import Any

import torch

from ..acceptance.progress import SoFar
from ..builders import BUILDERS
from ..builders.base import TreeBuilder
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..decode import autoregress, run
from ..metrics import Counts
from ..models.pair import HuggingFacePair
from ..passes.huggingface import HuggingFaceModel
from ..strategy import format_strategy
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier
from .trials import PLAIN, Method, Trial, by_round

OTHERS = "transformers"


def bench(
    pair: HuggingFacePair,
    builders: Sequence[TreeBuilder] | None = None,
    verifier: Verifier | Sequence[Verifier] | None = None,
    prompts: Sequence[str] = (),
    config: RunConfig | None = None,
    rounds: int = 3,
) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """Time every method on the same prompts; stop iterating to stop it.

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
        raise ValueError("prompts must have at least one text to continue; got none.")
    strategies = _strategies(pair, builders, verifier, config)
    lossy = {name for name, _, _, lossless in strategies if not lossless}
    for news in by_round(dict(_methods(pair, strategies, config)), config, prompts, rounds):
        yield SoFar(news.done, news.of, tuple(_row(name, news.known, name not in lossy) for name in news.known))


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
            asked = replace(config, builder=builder)
            rule = rule or VERIFIERS[suited(asked)]()
            match = compatible(replace(asked, verifier=rule))
            if match.possible:
                name = f"{format_strategy(builder, defaults=True)} + {rule}"
                found.append((name, builder, rule, match.lossless))
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


def _methods(pair: HuggingFacePair, strategies: Sequence[Strategy], config: RunConfig) -> Iterator[tuple[str, Method]]:
    kind = "greedy" if config.temperature == 0 else "sampling"
    yield PLAIN, lambda config: autoregress(pair, config).counts
    yield f"{OTHERS} {kind}", lambda config: _generate(pair, config, None)
    if isinstance(draft := pair.draft, HuggingFaceModel):
        yield f"{OTHERS} assisted", lambda config: _generate(pair, config, draft.model)
    for name, builder, rule, _ in strategies:
        yield name, partial(_decoded, pair, builder, rule)


def _decoded(pair: HuggingFacePair, builder: TreeBuilder, rule: Verifier, config: RunConfig) -> Counts:
    return run(pair, replace(config, builder=builder, verifier=rule)).counts


def _generate(pair: HuggingFacePair, config: RunConfig, assistant: Any) -> Counts:
    """transformers' own `generate` with the same weights; its time is not split into parts."""
    ids, tokens_left = prompt_of(pair, config)
    steps: list[tuple[int, float]] = []  # tokens so far and the time, after each pass of the target
    sampling: dict[str, Any] = {"do_sample": False}
    if config.temperature > 0:
        torch.manual_seed(config.seed)
        sampling = dict(do_sample=True, temperature=config.temperature, top_p=config.top_p, top_k=config.top_k or 0)

    def passed(ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
        steps.append((ids.shape[1], perf_counter()))
        return torch.zeros(len(ids), dtype=torch.bool, device=ids.device)

    with torch.inference_mode(), _without_its_own_warning():
        out = pair.target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens_left, stopping_criteria=[passed],
            assistant_model=assistant, pad_token_id=min(pair.eos_ids, default=0), **sampling,
        )  # fmt: skip
    tokens, began = steps[0]
    return Counts(
        out.shape[1] - ids.shape[1], len(steps), timed_tokens=out.shape[1] - tokens, timed_passes=len(steps) - 1,
        seconds=(0.0, 0.0, 0.0, steps[-1][1] - began),
    )  # fmt: skip


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


def prompt_of(pair: HuggingFacePair, config: RunConfig) -> tuple[torch.Tensor, int]:
    """The prompt as transformers takes it, and how many tokens a run may write after it."""
    prompt = config.prompt
    ids = pair.encode(prompt) if isinstance(prompt, str) else list(prompt)
    tokens_left = min(config.max_new_tokens, pair.max_positions - len(ids))
    if tokens_left < 1:
        raise ValueError(f"prompts must be shorter than {pair.max_positions} tokens, the context; got {len(ids)}.")
    return torch.tensor([ids], device=pair.target.device), tokens_left


def _row(name: str, rounds: dict[str, list[Counts]], lossless: bool) -> Trial:
    total = sum(rounds[name], Counts())
    against = {other: total.speedup(sum(runs, Counts())) for other, runs in rounds.items() if other.startswith(OTHERS)}
    row = Trial.of(name, rounds[name], rounds[PLAIN], against=against, lossless=lossless)
    return replace(row, parts={}) if name.startswith(OTHERS) else row  # its time is not split
