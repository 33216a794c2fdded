"""What Medusa's heads, EAGLE's layer and the block drafter minimise.

A batch is scored on its own tokens and some others at random, since the output head is almost all
of the cost.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional
from transformers import PreTrainedModel

from ..models.heads.block import BlockHead
from ..models.heads.eagle import EagleLayer
from ..models.heads.medusa import MedusaHeads

Rows = dict[str, Tensor]  # "tokens" [rows, m] and the target's "states" [rows, m, width]
OTHERS = 256  # tokens at random that a batch is scored on besides its own
DECAY = 0.8  # a head counts this much less than the one before
# Of a feature's spread: what a layer reads below the root is never exactly the target's.
NOISE = 0.1
CROSS_ENTROPY = 0.5  # beside smooth-L1 on features
ANCHORS = 32  # blocks in each text of a batch
FADE = 4  # a place of a block counts exp(-1 / FADE) of the one before (DSpark, section 3)


def heads_loss(
    model: MedusaHeads,
    teacher: PreTrainedModel,
    rows: Rows,
    generator: torch.Generator,
    done: float,
) -> Tensor:
    """Cross-entropy of head i at t with the target's distribution at t + i, summed with falling
    weights."""
    states, head, p = _targets(teacher, rows, generator)
    total = states.new_zeros(())
    # Head i reads the state at t and guesses the token at t + i, so both sides are cut to what
    # exists.
    for level, matrix in enumerate(model.weight[: states.shape[1] - 1], 1):
        f = states[:, :-level]
        guesses = f + functional.silu(f @ matrix.T)
        total = total + DECAY ** (level - 1) * cross_entropy(guesses @ head.T, p[:, level:])
    return total


def layer_loss(
    model: EagleLayer,
    teacher: PreTrainedModel,
    rows: Rows,
    generator: torch.Generator,
    done: float,
) -> Tensor:
    """Smooth-L1 on the next feature and cross-entropy with the target's distribution there.

    In the second half of the time every other feature it reads, at random, is a guess of its own,
    as below the root (the training-time test of EAGLE-3, Li et al. 2025).
    """
    states, head, p = _targets(teacher, rows, generator)
    tokens = rows["tokens"].to(states.device, torch.long)
    with torch.no_grad():
        embeddings = teacher.get_input_embeddings()(tokens[:, 1:]).float()
    true = states[:, :-1]
    features = (
        true + (torch.rand(true.shape, generator=generator).to(true) - 0.5) * 2 * NOISE * true.std()
    )
    if done > 0.5:
        with torch.no_grad():
            guesses = model(true, embeddings)
        is_guess = torch.rand(features.shape[:2], generator=generator).to(features) < 0.5
        # The first place has no guess before it.
        is_guess[:, 0] = False
        # A guess stands one place further on than what it was made from.
        features[:, 1:][is_guess[:, 1:]] = guesses[:, :-1][is_guess[:, 1:]].to(features)
    guesses = model(features, embeddings)
    distance = functional.smooth_l1_loss(guesses.float(), states[:, 1:])
    return distance + CROSS_ENTROPY * cross_entropy(guesses @ head.T.to(guesses), p[:, 1:])


def block_loss(
    model: BlockHead,
    teacher: PreTrainedModel,
    rows: Rows,
    generator: torch.Generator,
    done: float,
) -> Tensor:
    """From cross-entropy to total variation with the target's distributions behind random anchors,
    as `done` goes from 0 to 1.

    All blocks are read in one pass: each sees the features before its anchor, and itself. Half of
    them go without the Markov head, so that rows without it are learnt too.
    """
    tokens = rows["tokens"].to(teacher.device, torch.long)
    features = rows["states"].to(teacher.device).float()
    states = model.text_states(features).float()
    columns = None  # all that it can propose
    ids = model.ids
    if ids is None:
        columns = ids = _scored_tokens(tokens, teacher, generator)
    output_rows = _output_rows(teacher, ids)
    length = tokens.shape[1]
    block = model.block
    starts = torch.randint(1, length - block + 1, (ANCHORS,), generator=generator)
    starts = starts.to(states.device)
    places = (starts[:, None] + torch.arange(block, device=states.device)).flatten()
    number = torch.arange(ANCHORS, device=states.device).repeat_interleave(block)
    before_anchor = torch.arange(length, device=states.device) < starts[number][:, None]
    # Each place of a block sees the text before its anchor, and all of its own block.
    seen = torch.cat([before_anchor, number == number[:, None]], dim=1)
    rotary = model.rotary.to(states.device)
    cos, sin = rotary[:, :length]
    text = model.text_keys_values(states, cos, sin)

    def attention(layer: int, q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        keys = torch.cat([text[layer][0], k], dim=2)
        values = torch.cat([text[layer][1], v], dim=2)
        group = q.shape[1] // keys.shape[1]
        return functional.scaled_dot_product_attention(
            q, keys, values, attn_mask=seen, scale=model.scale, enable_gqa=group > 1
        )

    with torch.no_grad():
        roots = teacher.get_input_embeddings()(tokens[:, starts]).float()
        last = features[:, places, -output_rows.shape[1] :]
        p = torch.softmax((last @ output_rows.T).float(), dim=-1)
    x = model.begin(states[:, starts - 1], roots).flatten(1, 2)
    # All blocks side by side in one sequence, each place with the position that it has in its text.
    cos, sin = rotary[:, places]
    guesses = model.states(x, cos, sin, attention)
    logits = guesses @ output_rows.T
    depth = (places - starts[number]).float()
    # Every other block, so that one head serves with and without the Markov part.
    is_corrected = (depth > 0) & (number % 2 == 0)
    logits = logits + is_corrected[:, None] * model.after(tokens[:, places], columns)
    log_q = torch.log_softmax(logits.float(), dim=-1)
    each = distance(p, log_q, done)
    counts = torch.exp(-depth / FADE)
    return (each.mean(0) * counts).sum() / counts.sum()


def _targets(
    teacher: PreTrainedModel, rows: Rows, generator: torch.Generator
) -> tuple[Tensor, Tensor, Tensor]:
    """The states, the output rows of the tokens that the batch is scored on, and the target's
    distributions over them."""
    head = _output_rows(teacher, _scored_tokens(rows["tokens"], teacher, generator))
    states = rows["states"].to(head)[..., -head.shape[1] :]
    with torch.no_grad():
        return states, head, torch.softmax((states @ head.T).float(), -1)


def _output_rows(teacher: PreTrainedModel, ids: Tensor) -> Tensor:
    return teacher.get_output_embeddings().weight[ids].detach().float()


def _scored_tokens(tokens: Tensor, teacher: PreTrainedModel, generator: torch.Generator) -> Tensor:
    """The ids of a batch's own tokens and of `OTHERS`, ascending, on the target's device."""
    vocabulary = len(teacher.get_output_embeddings().weight)
    # The batch's own tokens alone would never push down a wrong token that is not among them.
    others = torch.randint(vocabulary, (min(OTHERS, vocabulary),), generator=generator)
    return torch.cat([tokens.flatten().long().cpu(), others]).unique().to(teacher.device)


def cross_entropy(logits: Tensor, p: Tensor) -> Tensor:
    """The mean cross-entropy of rows with the target's distributions, in nats."""
    return -(p * torch.log_softmax(logits.float(), -1)).sum(-1).mean()


def distance(p: Tensor, log_q: Tensor, done: float) -> Tensor:
    """Of each row, from cross-entropy with the target's distribution to twice the total variation,
    as `done` goes from 0 to 1.

    Cross-entropy teaches quickly where the draft is far off; 1 - total variation is the acceptance
    rate itself (Leviathan et al. 2023, arXiv:2211.17192, section 3.2).
    """
    cross_entropy = -(p * log_q).sum(-1)
    variation = (p - log_q.exp()).abs().sum(-1)
    return (1 - done) * cross_entropy + done * variation
