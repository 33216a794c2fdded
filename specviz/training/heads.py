"""Medusa's heads and EAGLE's layer, trained on samples of the frozen target, which hold its last
hidden states.

A batch is scored on its own tokens and some others at random, since the output head is almost all
of the cost.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from ..models.formats.checkpoint import hash_of
from ..models.heads.eagle import EagleLayer
from ..models.heads.medusa import MedusaHeads, save_drafter
from ..models.loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text
from ..models.text import end_of_text
from .corpus import checksum, encode, read_texts
from .loop import check_same_run, fit
from .samples import random_rows, shards, write_samples

SAMPLE_TIME = 0.3  # fraction of the time, where samples are made
BATCH = 1024  # tokens of a step
# Heads begin at 0 and are one matrix deep: they bear large steps.
RATE = {"medusa": 3e-2, "eagle": 1e-3}
OTHERS = 256  # tokens at random that a batch is scored on besides its own
DECAY = 0.8  # a head counts this much less than the one before
# Of a feature's spread: what a layer reads below the root is never exactly the target's.
NOISE = 0.1
CROSS_ENTROPY = 0.5  # beside smooth-L1 on features


def train_heads(
    kind: str,
    target: Path,
    seconds: float,
    *,
    samples: Path | None = None,
    text_files: Sequence[str | Path] = (),
    code_folder: str | Path | None = None,
    out: Path | None = None,
    heads: int = 4,
    device: str = "auto",
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train Medusa's heads or EAGLE's layer for a target; the same call again continues an
    interrupted run.

    Args:
        kind: "medusa" or "eagle".
        target: the folder with the target.
        seconds: how long in all, as `clock` counts them.
        samples: the folder with its samples; None for `checkpoint/samples` beside the target's
            folder.
        text_files, code_folder: prose, and Python files if a folder is given, to make samples from
            instead.
        out: where to write; None for a folder of that name beside the target's, where `load_pair`
            looks.
        heads: how many heads Medusa has.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of weights, batches and samples.
        clock: a function that returns seconds.

    Returns:
        A line on what was done.

    Raises:
        ValueError: if there are no samples, something cannot be written, or `out` holds another
            run.
    """
    out = out or target.parent / kind
    place = choose_device(device)
    digest = hash_of(target)
    teacher = load_model("target", str(target), place, choose_dtype("auto", place))
    facts = {
        "drafter": kind,
        "target": digest,
        "seed": seed,
        "heads": heads if kind == "medusa" else None,
    }
    check_same_run(out / "checkpoint", facts)
    if text_files:
        began = clock()
        samples = out / "checkpoint" / "samples"
        tokenizer = load_tokenizer("target", str(target))
        texts = read_texts(text_files, code_folder, code=code_folder is not None)
        text = encode(
            texts, tokenizer.backend_tokenizer, sorted(end_of_text(teacher, tokenizer))[:1]
        )
        check_same_run(samples, {"text": checksum(text), "target": digest, "seed": seed})
        longest = longest_text("target", teacher.config)
        write_samples(
            teacher,
            text,
            samples,
            SAMPLE_TIME * seconds,
            clock,
            window=min(512, longest),
            length=min(128, longest),
            seed=seed,
            code_share=0.5 if code_folder is not None else 0.0,
        )
        seconds = max(1.0, seconds - (clock() - began))
    samples = samples or target.parent / "checkpoint" / "samples"
    paths = shards(samples)
    if not paths:
        raise ValueError(
            f"samples must be a folder of the target's samples; {str(samples)!r} has none. "
            "Give --text to make samples "
            "from, or the checkpoint folder of a run of train."
        )
    teacher = teacher.float()
    torch.manual_seed(seed)
    width = teacher.get_output_embeddings().weight.shape[1]
    model: torch.nn.Module
    if kind == "medusa":
        model = MedusaHeads(heads, width)
        loss = heads_loss
    else:
        model = new_layer(teacher)
        loss = layer_loss
    model.to(teacher.device)

    def batch_loss(step: int, done: float) -> torch.Tensor:
        rng = np.random.default_rng([seed, 3, step])
        rows = random_rows(paths, rng, BATCH)
        return loss(
            model, teacher, rows, torch.Generator().manual_seed(int(rng.integers(2**62))), done
        )

    line = fit(kind, model, batch_loss, out / "checkpoint" / "state.pt", seconds, RATE[kind], clock)
    save_drafter(kind, model, out)
    return line


@torch.no_grad()
def new_layer(target: Any) -> EagleLayer:
    """A layer like the target's last one, with its weights where the target is Llama-like; it
    passes on the feature."""
    config = target.config.get_text_config()
    width = target.get_output_embeddings().weight.shape[1]
    heads = config.num_attention_heads
    sizes = {
        "width": width,
        "heads": heads,
        "kv_heads": getattr(config, "num_key_value_heads", None) or heads,
        "mlp": getattr(config, "intermediate_size", None) or 4 * width,
        "positions": config.max_position_embeddings,
        "eps": getattr(config, "rms_norm_eps", 1e-6),
    }
    layer = EagleLayer(sizes)
    weights = dict(target.base_model.named_parameters())
    layer.join.weight.copy_(torch.cat([torch.eye(width)] * 2, dim=1))
    last = f"layers.{config.num_hidden_layers - 1}."
    for name, parameter in layer.llama.model.named_parameters():
        source = weights.get(name.replace("layers.0.", last))
        if source is not None and source.shape == parameter.shape and "embed" not in name:
            parameter.copy_(source)
    return layer


def heads_loss(
    model: MedusaHeads,
    teacher: Any,
    rows: dict[str, torch.Tensor],
    generator: torch.Generator,
    done: float = 0.0,
) -> torch.Tensor:
    """Cross-entropy of head i at t with the target's distribution at t + i, summed with falling
    weights."""
    states, head, p = _targets(teacher, rows, generator)
    total = states.new_zeros(())
    for level, matrix in enumerate(model.weight[: states.shape[1] - 1], 1):
        f = states[:, :-level]
        guesses = f + functional.silu(f @ matrix.T)
        total = total + DECAY ** (level - 1) * _cross_entropy(guesses @ head.T, p[:, level:])
    return total


def layer_loss(
    model: EagleLayer,
    teacher: Any,
    rows: dict[str, torch.Tensor],
    generator: torch.Generator,
    done: float = 0.0,
) -> torch.Tensor:
    """Smooth-L1 on the next feature and cross-entropy with the target's distribution there.

    In the second half of the time every other feature it reads, at random, is a guess of its own,
    as below the root (the training-time test of EAGLE-3, Li et al. 2025).
    """
    states, head, p = _targets(teacher, rows, generator)
    tokens = rows["tokens"].to(states.device, torch.long)
    with torch.no_grad():
        embeddings = teacher.get_input_embeddings()(tokens[:, 1:])
    true = states[:, :-1]
    features = (
        true + (torch.rand(true.shape, generator=generator).to(true) - 0.5) * 2 * NOISE * true.std()
    )
    if done > 0.5:
        with torch.no_grad():
            guesses = model(true, embeddings)
        is_guess = torch.rand(features.shape[:2], generator=generator).to(features) < 0.5
        is_guess[:, 0] = False
        features[:, 1:][is_guess[:, 1:]] = guesses[:, :-1][is_guess[:, 1:]].to(features)
    guesses = model(features, embeddings)
    distance = functional.smooth_l1_loss(guesses.float(), states[:, 1:])
    return distance + CROSS_ENTROPY * _cross_entropy(guesses @ head.T.to(guesses), p[:, 1:])


def _targets(teacher: Any, rows: dict[str, torch.Tensor], generator: torch.Generator) -> tuple:
    """The states, the rows of the output head that score the batch, and the target's distributions
    over them."""
    head = teacher.get_output_embeddings().weight.detach()
    states = rows["states"].to(head)
    others = torch.randint(len(head), (min(OTHERS, len(head)),), generator=generator)
    head = head[torch.cat([rows["tokens"].flatten().long(), others]).unique().to(head.device)]
    with torch.no_grad():
        return states, head, torch.softmax((states @ head.T).float(), -1)


def _cross_entropy(logits: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return -(p * torch.log_softmax(logits.float(), -1)).sum(-1).mean()
