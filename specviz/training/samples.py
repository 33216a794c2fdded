"""The target's own continuations with its last hidden states, from which its distributions follow.

Distillation on the target's own text: DistillSpec, Zhou et al. 2023, arXiv:2310.08461.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from safetensors import safe_open
from safetensors.torch import save
from torch import Tensor
from transformers import DynamicCache, PreTrainedModel

from .corpus import Streams, random_windows
from .loop import Shards, generator_of

TEMPERATURES = (0.0, 0.3, 0.6, 0.8, 1.0, 1.0)
TEXT_EVERY = 3
LONGEST_PROMPT = 48
ROWS = 128  # samples of a shard
SUFFIX = ".safetensors"  # of a shard's name
MAX_BYTES = 6_000_000_000  # of all hidden states on disk


def draw(logits: Tensor, temperatures: Tensor, generator: torch.Generator | None = None) -> Tensor:
    """One token per row of `logits` [rows, V], each at its own temperature [rows]; 0 takes the
    best. It is drawn where the generator is; None stands for the CPU's own."""
    p = torch.softmax(logits.float() / temperatures.clamp(min=1e-3)[:, None], -1)
    place = torch.device("cpu") if generator is None else generator.device
    drawn = torch.multinomial(p.to(place), 1, generator=generator)[:, 0].to(logits.device)
    return torch.where(temperatures == 0, logits.argmax(-1), drawn)


@torch.inference_mode()
def continue_text(
    target: PreTrainedModel,
    prompts: Tensor,
    length: int,
    temperatures: Tensor,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Continue prompts [rows, n] to `length` tokens; returns tokens [rows, length] and last hidden
    states."""
    cache = DynamicCache(config=target.config)
    tokens = [prompts]
    states = []
    new = prompts
    for _ in range(length - prompts.shape[1]):
        states.append(target.base_model(new, past_key_values=cache).last_hidden_state)
        new = draw(target.get_output_embeddings()(states[-1][:, -1]), temperatures, generator)[
            :, None
        ]
        tokens.append(new)
    states.append(target.base_model(new, past_key_values=cache).last_hidden_state)
    return torch.cat(tokens, 1), torch.cat(states, 1)


def write_samples(
    target: PreTrainedModel,
    text: Streams,
    samples: Shards,
    *,
    window: int,
    length: int,
    code_share: float,
    rows: int = ROWS,
    max_bytes: int = MAX_BYTES,
) -> None:
    """Write samples of a text.

    Every third is running text in full windows; the others are short prompts that the target
    continues.
    """
    # States in bfloat16 are nearly all of a shard.
    size = 2 * rows * length * target.get_output_embeddings().weight.shape[1]

    def windows(rng: np.random.Generator, count: int, size: int) -> Tensor:
        return torch.from_numpy(random_windows(text, rng, count, size, code_share)).to(
            target.device, torch.long
        )

    def shard(number: int, rng: np.random.Generator) -> bytes:
        # Running text keeps the draft fit for prompts; the rest is what it will draft, the target's
        # own.
        if number % TEXT_EVERY == TEXT_EVERY - 1:
            tokens = windows(rng, max(1, rows * length // window), window)
            with torch.inference_mode():
                parts = []
                for part in tokens.split(8):
                    parts.append(target.base_model(part).last_hidden_state)
                states = torch.cat(parts)
            temperature = torch.ones(len(tokens))
        else:
            longest = min(LONGEST_PROMPT, length // 2)
            prompts = windows(rng, rows, int(rng.integers(4, longest + 1)))
            temperature = torch.from_numpy(rng.choice(TEMPERATURES, rows).astype(np.float32))
            # Answers at several temperatures, since a draft is asked at the temperature of a run.
            heat = temperature.to(target.device)
            tokens, states = continue_text(target, prompts, length, heat, generator_of(rng))
        return save(
            {
                "tokens": tokens.int().cpu(),
                "states": states.bfloat16().cpu(),
                "temperatures": temperature,
            }
        )

    most = max(1, max_bytes // size)
    samples.write("samples", SUFFIX, shard, most)


def random_rows(paths: list[Path], rng: np.random.Generator, tokens: int) -> dict[str, Tensor]:
    """Neighbouring rows of a random shard, about `tokens` tokens in all; the rest of the file is
    not read."""
    with safe_open(paths[rng.integers(len(paths))], "pt") as file:
        rows, length = file.get_slice("tokens").get_shape()
        count = min(rows, max(1, tokens // length))
        start = int(rng.integers(rows - count + 1))
        names = list(file.keys())
        return {name: file.get_slice(name)[start : start + count] for name in names}
