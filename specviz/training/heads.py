"""Medusa's heads, EAGLE's layer and the block drafter, trained on samples of the frozen target,
which hold its last hidden states."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from ..models.formats.checkpoint import hash_of
from ..models.heads.medusa import MedusaHeads, save_drafter
from ..models.loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text
from ..models.text import end_of_text
from .corpus import checksum, encode, read_texts
from .loop import check_same_run, fit
from .losses import block_loss, heads_loss, layer_loss, new_block, new_layer
from .samples import random_rows, shards, write_samples

SAMPLE_TIME = 0.3  # fraction of the time, where samples are made
BATCH = 1024  # tokens of a step
# Heads begin at 0 and are one matrix deep: they bear large steps.
RATE = {"medusa": 3e-2, "eagle": 1e-3, "block": 1e-3}


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
    """Train Medusa's heads, EAGLE's layer or a block drafter for a target; the same call again
    continues an interrupted run.

    Args:
        kind: "medusa", "eagle" or "block".
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
    # Losses are differences of small numbers, which bfloat16 would round away.
    teacher = teacher.float()
    torch.manual_seed(seed)
    width = teacher.get_output_embeddings().weight.shape[1]
    model: torch.nn.Module
    if kind == "medusa":
        model = MedusaHeads(heads, width)
        loss = heads_loss
    elif kind == "block":
        model = new_block(teacher)
        loss = block_loss
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
