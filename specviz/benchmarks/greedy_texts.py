"""Compare greedy texts of every builder with transformers, token by token."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import torch

from ..acceptance.progress import Progress
from ..builders import BUILDERS
from ..config import RunConfig
from ..decode import autoregress, run
from ..models.pair import HuggingFacePair
from .against_transformers import generation


@dataclass(frozen=True)
class Difference:
    """Where a greedy text first differs from transformers' own.

    Attributes:
        method, prompt: what was run, and after which prompt.
        position: index of the token among the new ones; margin: the distance of the two best logits there.
    """

    method: str
    prompt: str
    position: int
    margin: float


def greedy_differences(
    pair: HuggingFacePair, prompts: Sequence[str], max_new_tokens: int = 128, builders: Sequence[str] = ()
) -> Iterator[Progress[tuple[Difference, ...]]]:
    """Compare builders, or all of the menu, at temperature 0 with transformers' greedy `generate`.

    In float32 there should be no difference. The results are the first ones of each text that differs.
    """
    found: list[Difference] = []
    menu = [name for name, cls in BUILDERS.items() if not cls.alone and (pair.draft is not None or not cls.reads_draft)]
    for done, prompt in enumerate(prompts, 1):
        config = RunConfig(prompt, temperature=0.0, verifier="exact-match", max_new_tokens=max_new_tokens)
        expected = _greedy_tokens(pair, config)
        texts = {"plain": autoregress(pair, config).tokens}
        texts |= {name: run(pair, replace(config, builder=name)).tokens for name in builders or menu}
        for method, tokens in texts.items():
            if list(tokens) != expected:
                pairs = enumerate(zip(tokens, expected, strict=False))
                same = next((i for i, (a, b) in pairs if a != b), min(len(tokens), len(expected)))
                found.append(Difference(method, prompt, same, _margin(pair, [*pair.encode(prompt), *expected[:same]])))
        yield Progress(done, len(prompts), result=tuple(found))


def _greedy_tokens(pair: HuggingFacePair, config: RunConfig) -> list[int]:
    ids, options = generation(pair, config)
    with torch.inference_mode():
        out = pair.target.model.generate(ids, do_sample=False, **options)
    return out[0, ids.shape[1] :].tolist()


def _margin(pair: HuggingFacePair, tokens: list[int]) -> float:
    with torch.inference_mode():
        logits = pair.target.model(torch.tensor([tokens], device=pair.target.device)).logits[0, -1]
    best = torch.topk(logits.float(), 2).values
    return float(best[0] - best[1])
