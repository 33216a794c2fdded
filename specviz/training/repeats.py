"""Greedy text that goes round in circles, unlearnt at the end of the target's training.

A small model's best next token soon leads back to what it has just said. The remedy is to let it write and to make less
likely what it repeated (Welleck et al. 2020, arXiv:1908.04319, section 5.2, sequence-level unlikelihood), with running
text beside it, so that it forgets nothing else.
"""

from collections.abc import Sequence

import numpy as np
import torch
from tqdm import tqdm
from transformers import PreTrainedModel

from .arithmetic import autocast
from .corpus import KINDS, Corpus, beginnings, windows
from .distil import next_token_loss
from .recipe import Recipe
from .samples import continue_text

GRAM = 4
PROMPT, LENGTH, TEXTS = 12, 104, 24  # tokens, tokens with the prompt, texts a step


def repeated(ids: Sequence[int], size: int = GRAM) -> list[bool]:
    """For every token of a text whether an n-gram ends with it that stood there before: 1 2 1 2 1, pairs: FFFTT."""
    seen, marks = set(), []
    for end in range(1, len(ids) + 1):
        gram = tuple(ids[max(0, end - size) : end])
        marks.append(len(gram) == size and gram in seen)
        seen.add(gram)
    return marks


def repetition(ids: Sequence[int], size: int = GRAM) -> float:
    """The share of a text's n-grams that stood in it before: [1, 2, 1, 2, 1] has pairs 12, 21, 12, 21, a half."""
    return sum(repeated(ids, size)) / max(1, len(ids) - size + 1)


def until_end(ids: Sequence[int]) -> Sequence[int]:
    """A text up to its end-of-text token, if it has one."""
    return ids[: ids.index(0)] if 0 in ids else ids


def unlearn_repeats(model: PreTrainedModel, corpus: Corpus, recipe: Recipe) -> str:
    """Train `model` until its greedy tales repeat at most `recipe.most_repeated` of their 4-grams; says what it took.

    Ends after `recipe.unlearning_steps` in any case. The tales begin as those of `corpus` do.
    """
    length = min(LENGTH, recipe.window)
    optimizer = torch.optim.AdamW(model.parameters(), lr=recipe.unlearning_rate, betas=(0.9, 0.95), weight_decay=0.0)
    shares: list[float] = []
    for step in tqdm(range(recipe.unlearning_steps), desc="repeats", leave=False):
        rng = np.random.default_rng([recipe.seed, 4, step])
        texts, marks = _written(model, beginnings(corpus.train[KINDS[0]], rng, TEXTS, PROMPT), length)
        shares.append(float(marks.sum(1).div(length - PROMPT - GRAM + 1).mean()))
        if np.mean(shares[-2:]) <= recipe.most_repeated:
            break
        spans = windows(corpus, rng, max(1, recipe.rows // 2), recipe.window, recipe.code_share)
        with autocast(model.device):
            loss = unlikelihood(model, texts, marks)
            loss = loss + next_token_loss(model, torch.from_numpy(spans).to(model.device, torch.long))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
    return (
        f"repeats unlearnt in {len(shares)} steps of {TEXTS} greedy tales, AdamW {recipe.unlearning_rate:g}: "
        f"from {shares[0]:.0%} to {shares[-1]:.0%} of their 4-grams"
    )


def _written(model: PreTrainedModel, prompts: np.ndarray, length: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Prompts (rows, tokens) with greedy continuations, and what of these was there before, both (rows, length)."""
    rows = torch.from_numpy(prompts).to(model.device, torch.long)
    with autocast(model.device):
        texts, _ = continue_text(model, rows, length, torch.zeros(len(rows), device=model.device))
    marks = torch.zeros(texts.shape)
    for row, mark in zip(texts[:, rows.shape[1] :].tolist(), marks[:, rows.shape[1] :], strict=True):
        told = repeated(until_end(row))
        mark[: len(told)] = torch.tensor(told)
    return texts, marks.to(model.device)


def unlikelihood(model: PreTrainedModel, texts: torch.Tensor, marks: torch.Tensor) -> torch.Tensor:
    """Mean of -log(1 - p) over the marked tokens of texts (rows, length); 0 where none is marked."""
    logits = model(texts, use_cache=False).logits[:, :-1].float()
    p = torch.softmax(logits, -1).gather(-1, texts[:, 1:, None]).squeeze(-1)
    return -(torch.log((1 - p).clamp(min=1e-5)) * marks[:, 1:]).sum() / marks.sum().clamp(min=1)
