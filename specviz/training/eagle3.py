"""An EAGLE-3 head (Li et al. 2025), trained on conversations of its frozen target.

Training-time test: level j of the head sees the keys of level 0 at all places before and of levels
1 to j at its own place, as it will when it drafts, and is fed with its own guesses.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional
from transformers import PreTrainedModel

from ..models.formats.checkpoint import hash_of
from ..models.heads.eagle3 import Eagle3Head, rotary_table
from ..models.heads.format import HeadFormat
from ..models.hub import model_folder
from ..models.loading import choose_device, choose_dtype, load_model, load_tokenizer
from .conversations import (
    LONGEST,
    Conversation,
    neighbours,
    read_conversations,
    shards,
    write_conversations,
)
from .loop import check_same_run, fit
from .new_head import begin, save_head

SAMPLE_TIME = 0.3  # fraction of the time, where samples are made
RATE = 6e-4  # at its peak
LATER_RATE = 1.5e-4  # of a head that goes on: at the first rate its loss rises for an hour
LEVELS = 4  # of the training-time test; fewer in the first part of a new head's time
DECAY = 0.8  # a level counts this much less than the one before
CHECKED_LEVELS = 5  # in the evaluation


def train_eagle3(
    target: str,
    seconds: float,
    out: Path,
    *,
    samples: Path | None = None,
    state: Path | None = None,
    device: str = "auto",
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train a head for a chat model; the same call again continues an interrupted run.

    Args:
        target: a folder, or a name that `load_pair` knows.
        seconds: how long in all, as `clock` counts them.
        out: the folder of the head. A head that is there, without a state, is trained further.
        samples: a folder of conversations; None to make them in `state`.
        state: the folder of what a run needs to continue; None for `checkpoint` in `out`.
        device: "auto", "cpu", "cuda" or "mps".
        seed: of weights, batches and samples.
        clock: a function that returns seconds.

    Returns:
        A line on what was done, with acceptance on conversations that were not trained on.

    Raises:
        ValueError: if the target is no chat model, there are no conversations, something cannot be
            written, or `state` holds another run.
    """
    state = state or out / "checkpoint"
    place = choose_device(device)
    folder = model_folder("target", target)
    teacher = load_model("target", str(folder), place, choose_dtype("auto", place))
    check_same_run(state, {"drafter": "eagle3", "target": hash_of(folder), "seed": seed})
    if samples is None:
        began = clock()
        samples = state / "samples"
        tokenizer = load_tokenizer("target", str(folder))
        write_conversations(teacher, tokenizer, samples, SAMPLE_TIME * seconds, clock, seed)
        # What the samples took is not for training.
        seconds = max(1.0, seconds - (clock() - began))
    longest = min(LONGEST, teacher.config.max_position_embeddings)
    conversations = read_conversations(samples, longest)
    trained = [one for one in conversations if not one.is_held_out]
    if not trained:
        raise ValueError(
            f"samples must be a folder of conversations; {str(samples)!r} has "
            f"{len(shards(samples))} files of them. Leave --samples out to make some."
        )
    # Before the weights are made, so that the same call begins alike.
    torch.manual_seed(seed)
    goes_on = (out / "model.safetensors").is_file()
    head, form, ids = begin(out, state, teacher, trained)
    head.to(place)
    rotary = rotary_table(form.layer, LONGEST + LEVELS + CHECKED_LEVELS, torch.float32).to(place)
    trained.sort(key=lambda one: len(one.tokens))  # neighbours need little padding

    def batch_loss(step: int, done: float) -> torch.Tensor:
        rng = np.random.default_rng([seed, 3, step])
        batch = Batch(neighbours(trained, rng), teacher, form)
        # Level by level more: guesses of a head that knows nothing yet teach nothing.
        levels = LEVELS if goes_on else min(LEVELS, 1 + int(done * 2 * LEVELS))
        return head_loss(head, batch, teacher, ids.to(place), rotary, levels)

    rate = LATER_RATE if goes_on else RATE
    line = fit("eagle3", head, batch_loss, state / "state.pt", seconds, rate, clock)
    save_head(head, form, ids, out, target)
    held_out = [one for one in conversations if one.is_held_out and one.temperature == 0]
    return f"{line}; {accepted(head, held_out, teacher, form, ids.to(place), rotary)}"


class Batch:
    """Conversations side by side, with the target's hidden states.

    Attributes:
        tokens: ids [rows, m], padded with 0.
        features: the states that a head reads, [rows, m, width of all].
        last: the target's last hidden states, [rows, m, width].
        counts: whether the token after a place belongs to the answer, bool [rows, m].
    """

    @torch.no_grad()
    def __init__(
        self, conversations: list[Conversation], teacher: PreTrainedModel, form: HeadFormat
    ) -> None:
        length = max(len(one.tokens) for one in conversations)
        tokens = np.zeros((len(conversations), length), np.int64)
        counts = np.zeros(tokens.shape, bool)
        for row, one in enumerate(conversations):
            tokens[row, : len(one.tokens)] = one.tokens
            # Questions are the model's own, but nobody will draft them: only answers are learnt.
            counts[row, one.answer - 1 : len(one.tokens) - 1] = True
        device = teacher.device
        self.tokens = torch.from_numpy(tokens).to(device)
        self.counts = torch.from_numpy(counts).to(device)
        # Padding is behind the text, where causal attention does not see it.
        output = teacher.base_model(self.tokens, output_hidden_states=True, use_cache=False)
        layers = form.feature_layers(teacher.config.num_hidden_layers)
        self.features = torch.cat([output.hidden_states[layer] for layer in layers], dim=-1)
        self.last = output.last_hidden_state
        self.embeddings = teacher.get_input_embeddings()(self.tokens)


def unroll(
    head: Eagle3Head, batch: Batch, rotary: torch.Tensor, levels: int
) -> Iterator[torch.Tensor]:
    """The guessed states of each level, [rows, m, width]; place i of level j guesses token
    i + 2 + j.

    Args:
        head: the weights.
        batch: what it reads.
        rotary: cos and sin of positions, [2, at least m + levels, head_dim].
        levels: how many.
    """
    m = batch.tokens.shape[1]
    # Level 0 attends to the text before, like any layer.
    causal = torch.ones(m, m, dtype=torch.bool, device=batch.tokens.device).tril()
    states = head.text_states(batch.features)
    keys: list[torch.Tensor] = []
    values: list[torch.Tensor] = []
    for level in range(levels):
        # At level j the token to embed stands j places further on.
        next_embeddings = batch.embeddings.roll(-1 - level, dims=1)
        cos, sin = rotary[:, level : level + m]  # as it stands when it drafts
        q, k, v = head.queries_keys_values(next_embeddings, states, cos, sin)
        group = q.shape[1] // k.shape[1]
        keys.append(k.repeat_interleave(group, 1))
        values.append(v.repeat_interleave(group, 1))
        scores = (q @ keys[0].transpose(-1, -2) * head.scale).masked_fill(~causal, -torch.inf)
        # Of deeper levels a place sees its own key alone: that is the chain above it when it
        # drafts.
        own = [(q * k).sum(-1, keepdim=True) * head.scale for k in keys[1:]]
        # One softmax over the text and the own chain, as one attention will see them.
        shares = torch.softmax(torch.cat([scores, *own], dim=-1).float(), dim=-1)
        mixed = shares[..., :m] @ values[0].float()
        for deeper, v in enumerate(values[1:]):
            mixed = mixed + shares[..., m + deeper, None] * v
        states = head.next_states(states, mixed)
        yield states


def head_loss(
    head: Eagle3Head,
    batch: Batch,
    teacher: PreTrainedModel,
    ids: torch.Tensor,
    rotary: torch.Tensor,
    levels: int,
) -> torch.Tensor:
    """Cross-entropy of every level with the target's distribution over the draft's tokens, with
    falling weights.

    Args:
        ids: the target's id of each draft token.
        teacher, batch, rotary, levels: as for `unroll`.
    """
    # Over the tokens that the head can propose; the others cannot be learnt.
    output_rows = teacher.get_output_embeddings().weight[ids].detach()
    total = torch.zeros((), device=ids.device)
    for level, states in enumerate(unroll(head, batch, rotary, levels)):
        ahead = 1 + level  # the target's row for the same token stands so many places on
        counts = batch.counts[:, ahead:]
        with torch.no_grad():
            logits = functional.linear(batch.last[:, ahead:][counts], output_rows)
            p = torch.softmax(logits.float(), dim=-1)
        log_q = torch.log_softmax(head.logits(states[:, :-ahead][counts]).float(), dim=-1)
        total = total - DECAY**level * (p * log_q).sum(-1).mean()
    return total


@torch.no_grad()
def accepted(
    head: Eagle3Head,
    conversations: list[Conversation],
    teacher: PreTrainedModel,
    form: HeadFormat,
    ids: torch.Tensor,
    rotary: torch.Tensor,
) -> str:
    """In words: how often each level's first choice is the text's next token where the levels
    before were right, along greedy conversations."""
    right = np.zeros(CHECKED_LEVELS)
    tried = np.zeros(CHECKED_LEVELS)
    dtype = next(head.parameters()).dtype
    for start in range(0, len(conversations), 8):
        batch = Batch(conversations[start : start + 8], teacher, form)
        batch.features = batch.features.to(dtype)
        batch.embeddings = batch.embeddings.to(dtype)
        alive = batch.counts.clone()
        for level, states in enumerate(unroll(head, batch, rotary, CHECKED_LEVELS)):
            ahead = 1 + level
            counts = alive[:, : -ahead - 1] & batch.counts[:, ahead:-1]
            guesses = ids[head.logits(states[:, : -ahead - 1]).argmax(-1)]
            is_right = counts & (guesses == batch.tokens[:, ahead + 1 :])
            tried[level] += int(counts.sum())
            right[level] += int(is_right.sum())
            # A chain ends at its first wrong token, so deeper levels count only behind right ones.
            alive[:, : -ahead - 1] = is_right
    if not tried[0]:
        return "no conversation was held out"
    rates = right / np.maximum(tried, 1)
    length = 1 + np.cumprod(rates).sum()
    levels = ", ".join(f"{rate:.3f}" for rate in rates)
    return (
        f"first choices right on {len(conversations)} held-out conversations by level: {levels}; "
        f"a chain of {CHECKED_LEVELS} writes {length:.2f} tokens a pass"
    )
