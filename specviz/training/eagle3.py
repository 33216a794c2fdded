"""An EAGLE-3 head (Li et al. 2025), trained on conversations of its frozen target.

Training-time test: level j of the head sees the keys of level 0 at all places before and of levels
1 to j at its own place, as it will when it drafts, and is fed with its own guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from ..models.heads.eagle3_head import Eagle3Head
from .conversations import Conversation, read_again
from .losses import Rows, cross_entropy

LEVELS = 5  # in training; fewer in the first part of a new head's time
DECAY = 0.8  # a level counts this much less than the one before
CHECKED_LEVELS = 5  # in the evaluation


def unroll(
    head: Eagle3Head, teacher: PreTrainedModel, rows: Rows, rotary: Tensor, levels: int
) -> Iterator[Tensor]:
    """The guessed states of each level, [rows, m, width]; place i of level j guesses token
    i + 2 + j.

    Args:
        head, teacher: the weights, and its target.
        rows: what `read_again` gives of conversations.
        rotary: cos and sin of positions, [2, at least m + levels, head_dim].
        levels: how many.
    """
    tokens = rows["tokens"]
    m = tokens.shape[1]
    # Level 0 attends to the text before, like any layer.
    causal = torch.ones(m, m, dtype=torch.bool, device=tokens.device).tril()
    features = rows["states"][..., : head.fc.in_features]
    states = head.text_states(features)
    with torch.no_grad():
        embeddings = teacher.get_input_embeddings()(tokens).to(features.dtype)
    keys: list[Tensor] = []
    values: list[Tensor] = []
    for level in range(levels):
        # At level j the token to embed stands j places further on.
        next_embeddings = embeddings.roll(-1 - level, dims=1)
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
    teacher: PreTrainedModel,
    rows: Rows,
    generator: torch.Generator,
    done: float,
    ids: Tensor,
    rotary: Tensor,
    first_levels: int,
) -> Tensor:
    """Cross-entropy of every level with the target's distribution over the draft's tokens, with
    falling weights.

    Args:
        head, teacher, rows, rotary: as for `unroll`.
        generator: not used.
        done: the part of the time that is over.
        ids: the target's id of each draft token.
        first_levels: how many levels there are at first; `LEVELS` from half of the time on.
    """
    # Level by level more: guesses of a head that knows nothing yet teach nothing.
    levels = max(first_levels, min(LEVELS, 1 + int(done * 2 * LEVELS)))
    # Over the tokens that the head can propose; the others cannot be learnt.
    output_rows = teacher.get_output_embeddings().weight[ids].detach()
    last_states = rows["states"][..., head.fc.in_features :]
    total = torch.zeros((), device=ids.device)
    for level, states in enumerate(unroll(head, teacher, rows, rotary, levels)):
        ahead = 1 + level  # the target's row for the same token stands so many places on
        counts = rows["counts"][:, ahead:]
        with torch.no_grad():
            logits = functional.linear(last_states[:, ahead:][counts], output_rows)
            p = torch.softmax(logits.float(), dim=-1)
        total = total + DECAY**level * cross_entropy(head.logits(states[:, :-ahead][counts]), p)
    return total


@torch.no_grad()
def accepted(
    head: Eagle3Head,
    teacher: PreTrainedModel,
    layers: Sequence[int],
    conversations: list[Conversation],
    ids: Tensor,
    rotary: Tensor,
) -> str:
    """In words: how often each level's first choice is the text's next token where the levels
    before were right, along greedy conversations."""
    right = np.zeros(CHECKED_LEVELS)
    tried = np.zeros(CHECKED_LEVELS)
    dtype = next(head.parameters()).dtype
    for start in range(0, len(conversations), 8):
        rows = read_again(teacher, conversations[start : start + 8], layers)
        rows["states"] = rows["states"].to(dtype)
        alive = rows["counts"].clone()
        for level, states in enumerate(unroll(head, teacher, rows, rotary, CHECKED_LEVELS)):
            ahead = 1 + level
            counts = alive[:, : -ahead - 1] & rows["counts"][:, ahead:-1]
            guesses = ids[head.logits(states[:, : -ahead - 1]).argmax(-1)]
            is_right = counts & (guesses == rows["tokens"][:, ahead + 1 :])
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
