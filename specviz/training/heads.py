"""Drafters for a frozen target: Medusa's heads, EAGLE's layer, the block drafter, an EAGLE-3 head.

All are trained by one loop. They learn from samples with the last hidden states of a target of this
project, or from conversations of a chat model, which it reads again in every step.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ..models.formats.checkpoint import hash_of
from ..models.heads.eagle3_head import rotary_table
from ..models.heads.folder import save_drafter
from ..models.heads.format import usual_layers
from ..models.heads.medusa import MedusaHeads
from ..models.hub import model_folder
from ..models.loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text
from ..models.text import end_of_text
from .conversations import (
    LONGEST,
    Conversation,
    neighbours,
    read_again,
    read_conversations,
    step_tokens,
    write_conversations,
)
from .corpus import checksum, encode, read_texts
from .eagle3 import CHECKED_LEVELS, LEVELS, accepted, head_loss
from .loop import Clock, Shards, check_same_run, fit, generator_of, shards
from .losses import block_loss, heads_loss, layer_loss
from .new_head import begin, frequent_tokens, save_head
from .samples import SUFFIX, random_rows, write_samples
from .starts import new_block, new_layer

SAMPLE_TIME = 0.3  # fraction of the time, where samples are made
BATCH = 1024  # tokens of a step
MATRIX_RATE = 0.02  # Muon's, of the matrices of a block's layers
# Of a head that goes on: at the rate of a new one its loss rises for an hour.
LATER_RATE = 1.5e-4


class Trainee(NamedTuple):
    """A drafter that is trained.

    Attributes:
        model: its weights.
        loss: of a batch, as `heads_loss` is called.
        rate: AdamW's at its peak.
        matrix_rate: Muon's for the matrices of its layers, if any.
        layers: those of the target whose inputs it reads beside the last hidden state.
        save: writes it where it is not written by `save_drafter`.
        check: what it does on conversations that were not trained on, in words.
    """

    model: nn.Module
    loss: Callable[..., Tensor]
    rate: float
    matrix_rate: float | None = None
    layers: Sequence[int] = ()
    save: Callable[[], None] | None = None
    check: Callable[[list[Conversation]], str] | None = None


def new_trainee(
    kind: str,
    teacher: PreTrainedModel,
    conversations: list[Conversation],
    out: Path,
    state: Path,
    heads: int,
    name: str,
) -> Trainee:
    """A drafter as its training begins.

    Args:
        kind, teacher, out, state, heads: as for `train_drafter`.
        conversations: what it is trained on; none where that is samples.
        name: of the target.
    """
    if kind == "medusa":
        width = teacher.get_output_embeddings().weight.shape[1]
        # Heads begin at 0 and are one matrix deep: they bear large steps.
        return Trainee(MedusaHeads(heads, width), heads_loss, 3e-2)
    if kind == "eagle":
        return Trainee(new_layer(teacher), layer_loss, 1e-3)
    if kind == "block":
        layers: list[int] = []
        ids = None
        if conversations:
            config = teacher.config.get_text_config()
            layers = sorted(set(usual_layers(config.num_hidden_layers)))
            ids = frequent_tokens(state / "draft_tokens.npy", conversations, config.vocab_size)
        return Trainee(new_block(teacher, layers, ids), block_loss, 1e-3, MATRIX_RATE, layers)
    goes_on = (out / "model.safetensors").is_file()
    head, form, ids = begin(out, state, teacher, conversations)
    rotary = rotary_table(form.layer, LONGEST + LEVELS + CHECKED_LEVELS, torch.float32)
    reads = {"ids": ids.to(teacher.device), "rotary": rotary.to(teacher.device)}
    layers_read = form.feature_layers(teacher.config.num_hidden_layers)
    return Trainee(
        head,
        partial(head_loss, **reads, first_levels=LEVELS if goes_on else 1),
        LATER_RATE if goes_on else 6e-4,
        layers=layers_read,
        save=partial(save_head, head, form, ids, out, name),
        check=partial(accepted, head, teacher, layers_read, **reads),
    )


def train_drafter(
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
    clock: Clock = time.monotonic,
) -> str:
    """Train a drafter for a target; the same call again continues an interrupted run.

    Args:
        kind: "medusa", "eagle", "block", or "eagle3", for a chat model only.
        target: the folder with the target, or a name that `load_pair` knows.
        seconds: how long in all, as `clock` counts them.
        samples: the folder with its samples, or with conversations; None for
            `checkpoint/samples` beside the target's folder, or for conversations that a chat model
            writes first.
        text_files, code_folder: prose, and Python files if a folder is given, to make samples from
            instead.
        out: where to write; None for a folder of that name beside the target's, where `load_pair`
            looks. An EAGLE-3 head that is there, without a state, is trained further.
        state: the folder of what a run needs to continue; None for `checkpoint` in `out`.
        heads: how many heads Medusa has.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of weights, batches and samples.
        clock: a function that returns seconds.

    Returns:
        A line on what was done, for EAGLE-3 with what it does on conversations that were not
        trained on.

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
    sampled = Shards(own, SAMPLE_TIME * seconds, clock, seed)
    is_chat_only = kind == "eagle3"
    has_samples = samples or (shards(pair_samples, SUFFIX) and not is_chat_only)
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
            sampled,
            window=min(512, longest),
            length=min(128, longest),
            code_share=0.5 if code_folder is not None else 0.0,
        )
    elif not has_samples and (is_chat_only or (folder / "tokenizer.json").is_file()):
        samples = own
        tokenizer = load_tokenizer("target", str(folder))
        write_conversations(teacher, tokenizer, sampled)
    # What the samples took is not for training.
    seconds = max(1.0, seconds - (clock() - began))
    samples = samples or pair_samples
    paths = []
    if not is_chat_only:
        paths = shards(samples, SUFFIX)
    conversations = read_conversations(
        samples, min(LONGEST, longest_text("target", teacher.config))
    )
    trained = [one for one in conversations if not one.is_held_out]
    if not (paths or trained):
        raise ValueError(
            f"samples must be a folder of the target's samples; {str(samples)!r} has none. "
            "Give --text to make samples from, the checkpoint folder of a run of train, or for a "
            "chat model nothing."
        )
    trained.sort(key=lambda one: len(one.tokens))  # neighbours need little padding
    torch.manual_seed(seed)  # before the weights are made, so that the same call begins alike
    learnt = trained
    if paths:
        learnt = []
    trainee = new_trainee(kind, teacher, learnt, out, state, heads, str(target))
    trainee.model.to(place)

    def batch_loss(step: int, done: float) -> Tensor:
        rng = np.random.default_rng([seed, 3, step])
        if paths:
            rows = random_rows(paths, rng, BATCH)
        else:
            chosen = neighbours(trained, rng, place)
            if not is_chat_only:  # the other losses know no padding
                length = min(len(one.tokens) for one in chosen)
                chosen = [one._replace(tokens=one.tokens[:length]) for one in chosen]
            rows = read_again(teacher, chosen, trainee.layers)
        return trainee.loss(trainee.model, teacher, rows, generator_of(rng), done)

    # By the square root of a batch's size, as suits Adam (Malladi et al. 2022, arXiv:2205.10287).
    usual = step_tokens(torch.device("cpu"))
    growth = 1.0 if paths else math.sqrt(step_tokens(place) / usual)
    line = fit(
        kind,
        trainee.model,
        batch_loss,
        state / "state.pt",
        seconds,
        trainee.rate * growth,
        clock,
        trainee.matrix_rate,
    )
    if trainee.save is None:
        save_drafter(kind, trainee.model, out)
    else:
        trainee.save()
    if trainee.check is None:
        return line
    held_out = [one for one in conversations if one.is_held_out and one.temperature == 0]
    return f"{line}; {trainee.check(held_out)}"
