"""The target's own continuations with its last hidden states: what the draft is distilled from.

Sampling and the target's layers are the dear part of distillation on the target's own text (DistillSpec, Zhou et al.
2023, arXiv:2310.08461). They are paid once: from a stored hidden state the output head gives back the target's
distribution, at any temperature, as often as the draft comes by.
"""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from tqdm import tqdm
from transformers import PreTrainedModel
from transformers.cache_utils import Cache, DynamicLayer

from ..passes.huggingface import cache_argument
from .corpus import Corpus, windows
from .loop import BAR
from .recipe import Recipe

TEMPERATURES = (0.0, 0.3, 0.6, 0.8, 1.0, 1.0)
TEXT_EVERY = 3
CODE_SHARE = 0.5
LONGEST_PROMPT = 48


class _Slots(DynamicLayer):
    """A preallocated cache layer, so that a new token needs no copy of the old ones."""

    def __init__(self, length: int):
        super().__init__()
        self.length, self.used = length, 0

    def update(self, key_states, value_states, *args, **kwargs):
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
            self.slots = [s.new_empty(*s.shape[:2], self.length, s.shape[3]) for s in (key_states, value_states)]
        end = self.used + key_states.shape[2]
        for slots, new in zip(self.slots, (key_states, value_states), strict=True):
            slots[:, :, self.used : end] = new
        self.used = end
        self.keys, self.values = (slots[:, :, :end] for slots in self.slots)
        return self.keys, self.values


def draw(logits: torch.Tensor, temperatures: torch.Tensor, generator: torch.Generator | None = None) -> torch.Tensor:
    """One token per row of `logits` (rows, vocabulary), each at its own temperature (rows,); 0 takes the best."""
    best = logits.argmax(-1)
    scaled = logits.float() / temperatures.clamp(min=1e-3)[:, None]
    heights = torch.softmax(scaled, -1).cumsum(-1)
    level = torch.rand(len(logits), 1, generator=generator).to(logits.device) * heights[:, -1:]
    drawn = torch.searchsorted(heights, level).squeeze(1).clamp(max=logits.shape[1] - 1)
    return torch.where(temperatures == 0, best, drawn)


@torch.no_grad()
def continue_text(
    target: PreTrainedModel,
    prompts: torch.Tensor,
    length: int,
    temperatures: torch.Tensor,
    generator: torch.Generator | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Continue prompts (rows, prompt) to `length` tokens; returns tokens and last hidden states."""
    # On a CPU the fused kernel is by far the slow one for single tokens, and the fast one for whole windows.
    target.set_attn_implementation("eager" if target.device.type == "cpu" else "sdpa")
    cache = Cache(layers=[_Slots(length) for _ in range(target.config.num_hidden_layers)])
    tokens, states, new, argument = [prompts], [], prompts, {cache_argument(target): cache}
    for _ in range(length - prompts.shape[1]):
        states.append(target.base_model(new, **argument).last_hidden_state)
        new = draw(target.get_output_embeddings()(states[-1][:, -1]), temperatures, generator)[:, None]
        tokens.append(new)
    states.append(target.base_model(new, **argument).last_hidden_state)
    target.set_attn_implementation("sdpa")
    return torch.cat(tokens, 1), torch.cat(states, 1)


def write_samples(
    target: PreTrainedModel,
    corpus: Corpus,
    folder: Path,
    recipe: Recipe,
    seconds: float,
    clock: Callable[[], float],
    code_share: float = CODE_SHARE,
) -> tuple[int, float]:
    """Fill `folder` with shards for `seconds`, after those already there; returns their tokens and the seconds spent.

    Every third shard is running text in full windows, for long contexts; the others are short prompts of the corpus
    continued by the target, `code_share` of both from code. A shard's seed is its number, so an interruption changes
    nothing.
    """
    folder.mkdir(parents=True, exist_ok=True)
    done = shards(folder)
    before = float(_metadata(done[-1])["seconds"]) if done else 0.0
    number, began, size = len(done), clock() - before, recipe.sample_rows * recipe.sample_length
    with tqdm(desc="samples", total=seconds, initial=min(before, seconds), bar_format=BAR) as bar:
        spent = before
        while (spent < seconds and number * size < recipe.most_samples) or not number:
            shard = _shard(target, corpus, number, recipe, code_share)
            path = folder / f"{number:05d}.safetensors"
            spent = clock() - began
            _write(shard, path, spent)
            number += 1
            pace = (number - len(done)) * size / max(1e-9, spent - before)
            left = tqdm.format_interval(max(0.0, seconds - spent))
            bar.set_postfix_str(f"{number * size:,} tokens, {pace:,.0f} tokens/s, {left} left", refresh=False)
            bar.update(min(spent, seconds) - bar.n)
    return number * size, spent


def _write(shard: dict[str, torch.Tensor], path: Path, spent: float) -> None:
    part = path.with_suffix(".part")
    try:
        save_file(shard, part, {"seconds": repr(spent)})
        os.replace(part, path)
    except (OSError, SafetensorError) as error:
        raise ValueError(
            f"out must have disk space for the target's samples; {path} cannot be written: {error}."
        ) from None


def _shard(
    target: PreTrainedModel, corpus: Corpus, number: int, recipe: Recipe, code_share: float
) -> dict[str, torch.Tensor]:
    rng, device = np.random.default_rng([recipe.seed, number]), target.device
    rows, length = recipe.sample_rows, recipe.sample_length
    if number % TEXT_EVERY == TEXT_EVERY - 1:
        spans = windows(corpus, rng, max(1, rows * length // recipe.window), recipe.window, code_share)
        tokens = torch.from_numpy(spans).to(device, torch.long)
        with torch.inference_mode():
            states = torch.cat([target.base_model(part).last_hidden_state for part in tokens.split(8)])
        temperatures = torch.ones(len(tokens))
    else:
        prompt = int(rng.integers(4, min(LONGEST_PROMPT, length // 2) + 1))
        prompts = torch.from_numpy(windows(corpus, rng, rows, prompt, code_share)).to(device, torch.long)
        temperatures = torch.from_numpy(rng.choice(TEMPERATURES, rows).astype(np.float32))
        generator = torch.Generator().manual_seed(int(rng.integers(2**62)))
        tokens, states = continue_text(target, prompts, length, temperatures.to(device), generator)
    return {"tokens": tokens.int().cpu(), "states": states.bfloat16().cpu(), "temperatures": temperatures}


def shards(folder: Path) -> list[Path]:
    """The finished shards in `folder`, in order."""
    return sorted(folder.glob("*.safetensors"))


def random_rows(paths: list[Path], rng: np.random.Generator, tokens: int) -> dict[str, torch.Tensor]:
    """Neighbouring rows of a random shard, about `tokens` tokens in all; the rest of the file is not read."""
    with safe_open(paths[rng.integers(len(paths))], "pt") as file:
        rows, length = file.get_slice("tokens").get_shape()
        count = min(rows, max(1, tokens // length))
        start = int(rng.integers(rows - count + 1))
        return {name: file.get_slice(name)[start : start + count] for name in file.keys()}  # noqa: SIM118


def _metadata(path: Path) -> dict[str, str]:
    with safe_open(path, "pt") as file:
        return file.metadata()
