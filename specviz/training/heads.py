"""Medusa's heads, EAGLE's layer and the block drafter, trained on samples of the frozen target.

Samples of a target of this project hold its last hidden states. Those of a chat model are
conversations, which it reads again in every step.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from ..models.formats.checkpoint import hash_of
from ..models.heads.format import usual_layers
from ..models.heads.medusa import MedusaHeads, save_drafter
from ..models.hub import model_folder
from ..models.loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text
from ..models.text import end_of_text
from .conversations import (
    LONGEST,
    Conversation,
    neighbours,
    read_conversations,
    write_conversations,
)
from .corpus import checksum, encode, read_texts
from .loop import check_same_run, fit
from .losses import block_loss, heads_loss, layer_loss, new_block, new_layer
from .new_head import frequent_tokens
from .samples import random_rows, shards, write_samples

SAMPLE_TIME = 0.3  # fraction of the time, where samples are made
BATCH = 1024  # tokens of a step
# Heads begin at 0 and are one matrix deep: they bear large steps.
RATE = {"medusa": 3e-2, "eagle": 1e-3, "block": 1e-3}
MATRIX_RATE = 0.02  # Muon's, of the matrices of a block's layers


def train_heads(
    kind: str,
    target: str | Path,
    seconds: float,
    *,
    samples: Path | None = None,
    text_files: Sequence[str | Path] = (),
    code_folder: str | Path | None = None,
    out: Path | None = None,
    state: Path | None = None,
    heads: int = 4,
    device: str = "auto",
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train Medusa's heads, EAGLE's layer or a block drafter for a target; the same call again
    continues an interrupted run.

    Args:
        kind: "medusa", "eagle" or "block".
        target: the folder with the target, or a name that `load_pair` knows.
        seconds: how long in all, as `clock` counts them.
        samples: the folder with its samples, or with conversations; None for
            `checkpoint/samples` beside the target's folder, or for conversations that a chat model
            writes first.
        text_files, code_folder: prose, and Python files if a folder is given, to make samples from
            instead.
        out: where to write; None for a folder of that name beside the target's, where `load_pair`
            looks.
        state: the folder of what a run needs to continue; None for `checkpoint` in `out`.
        heads: how many heads Medusa has.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of weights, batches and samples.
        clock: a function that returns seconds.

    Returns:
        A line on what was done.

    Raises:
        ValueError: if there are no samples, something cannot be written, or `state` holds another
            run.
    """
    folder = model_folder("target", str(target))
    out = out or folder.parent / kind
    state = state or out / "checkpoint"
    place = choose_device(device)
    digest = hash_of(folder)
    teacher = load_model("target", str(folder), place, choose_dtype("auto", place))
    facts = {
        "drafter": kind,
        "target": digest,
        "seed": seed,
        "heads": heads if kind == "medusa" else None,
    }
    check_same_run(state, facts)
    began = clock()
    pair_samples = folder.parent / "checkpoint" / "samples"
    own = state / "samples"
    if text_files:
        samples = own
        tokenizer = load_tokenizer("target", str(folder))
        texts = read_texts(text_files, code_folder, code=code_folder is not None)
        text = encode(
            texts, tokenizer.backend_tokenizer, sorted(end_of_text(teacher, tokenizer))[:1]
        )
        check_same_run(samples, {"text": checksum(text), "target": digest, "seed": seed})
        # Samples no longer than what the target can read.
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
    elif samples is None and not shards(pair_samples) and (folder / "tokenizer.json").is_file():
        samples = own
        tokenizer = load_tokenizer("target", str(folder))
        write_conversations(teacher, tokenizer, samples, SAMPLE_TIME * seconds, clock, seed)
    seconds = max(1.0, seconds - (clock() - began))
    samples = samples or pair_samples
    paths = shards(samples)
    conversations = [one for one in read_conversations(samples, LONGEST) if not one.is_held_out]
    if not (paths or conversations):
        raise ValueError(
            f"samples must be a folder of the target's samples; {str(samples)!r} has none. "
            "Give --text to make samples "
            "from, or the checkpoint folder of a run of train."
        )
    torch.manual_seed(seed)
    layers: list[int] = []  # whose inputs are read beside the last hidden state
    ids = None
    if not paths:
        conversations.sort(key=lambda one: len(one.tokens))
        config = teacher.config.get_text_config()
        if kind == "block":
            layers = sorted(set(usual_layers(config.num_hidden_layers)))
            table = state / "draft_tokens.npy"
            ids = frequent_tokens(table, conversations, config.vocab_size)
    width = teacher.get_output_embeddings().weight.shape[1]
    model: torch.nn.Module
    if kind == "medusa":
        model = MedusaHeads(heads, width)
        loss = heads_loss
    elif kind == "block":
        model = new_block(teacher, layers, ids)
        loss = block_loss
    else:
        model = new_layer(teacher)
        loss = layer_loss
    model.to(teacher.device)

    def batch_loss(step: int, done: float) -> torch.Tensor:
        rng = np.random.default_rng([seed, 3, step])
        if paths:
            rows = random_rows(paths, rng, BATCH)
        else:
            rows = read_again(teacher, neighbours(conversations, rng), layers)
        return loss(
            model, teacher, rows, torch.Generator().manual_seed(int(rng.integers(2**62))), done
        )

    matrix_rate = MATRIX_RATE if kind == "block" else None
    checkpoint = state / "state.pt"
    line = fit(kind, model, batch_loss, checkpoint, seconds, RATE[kind], clock, matrix_rate)
    save_drafter(kind, model, out)
    return line


@torch.no_grad()
def read_again(
    teacher: PreTrainedModel, conversations: list[Conversation], layers: Sequence[int]
) -> dict[str, torch.Tensor]:
    """Conversations cut to the shortest of them, and what the target computes of them.

    Args:
        teacher: the target.
        conversations: of about one length.
        layers: those whose inputs come before the last hidden state, for every token.
    """
    length = min(len(one.tokens) for one in conversations)
    tokens = torch.from_numpy(np.stack([one.tokens[:length] for one in conversations]))
    output = teacher.base_model(
        tokens.to(teacher.device), output_hidden_states=bool(layers), use_cache=False
    )
    states = [output.hidden_states[layer] for layer in layers]
    return {"tokens": tokens, "states": torch.cat([*states, output.last_hidden_state], dim=-1)}
