"""Compare greedy texts of every builder with transformers, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from ..acceptance.progress import SoFar
from ..builders.base import TreeBuilder
from ..config import RunConfig
from ..decode import autoregress, run
from ..models.pair import HuggingFacePair
from ..strategy import format_strategy
from ..verifiers import VERIFIERS
from .against_transformers import menu, prompt_of


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
) -> Iterator[SoFar[tuple[Difference, ...]]]:
    """Compare every builder's text at temperature 0 with transformers' greedy `generate`, token by token.

    Args:
        pair: the models, in float32 where equality is expected.
        prompts: texts to continue.
        max_new_tokens: how far.
        builders: None means each of the menu that goes with the pair.

    Returns:
        Prompts done, of how many, and the first difference of each text that differs; none is what should come back.
    """
    found: list[Difference] = []
    builders = builders or menu(pair)
    rule = VERIFIERS["exact-match"]()
    for done, prompt in enumerate(prompts, 1):
        config = RunConfig(prompt, temperature=0.0, verifier=rule, max_new_tokens=max_new_tokens)
        wanted = _greedy_tokens(pair, config)
        texts = {"plain": autoregress(pair, config).tokens}
        texts |= {
            format_strategy(builder, defaults=True): run(pair, replace(config, builder=builder)).tokens
            for builder in builders
        }
        for method, tokens in texts.items():
            if list(tokens) != wanted:
                same = next(
                    (i for i, (a, b) in enumerate(zip(tokens, wanted, strict=False)) if a != b),
                    min(len(tokens), len(wanted)),
                )
                found.append(Difference(method, prompt, same, _margin(pair, [*pair.encode(prompt), *wanted[:same]])))
        yield SoFar(done, len(prompts), tuple(found))


def _greedy_tokens(pair: HuggingFacePair, config: RunConfig) -> list[int]:
    ids, tokens_left = prompt_of(pair, config)
    with torch.inference_mode():
        out = pair.target.model.generate(
            ids, attention_mask=torch.ones_like(ids), max_new_tokens=tokens_left, do_sample=False,
            pad_token_id=min(pair.eos_ids, default=0),
        )  # fmt: skip
    return out[0, ids.shape[1] :].tolist()


def _margin(pair: HuggingFacePair, tokens: list[int]) -> float:
    with torch.inference_mode():
        logits = pair.target.model(torch.tensor([tokens], device=pair.target.device)).logits[0, -1]
    best = torch.topk(logits.float(), 2).values
    return float(best[0] - best[1])
