"""What Medusa's heads, EAGLE's layer and the block drafter begin as, and what they minimise.

A batch is scored on its own tokens and some others at random, since the output head is almost all
of the cost.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn import functional
from transformers import PreTrainedModel

from ..base.codec import JsonObject
from ..models.heads.block import BlockHead
from ..models.heads.eagle import EagleLayer
from ..models.heads.medusa import MedusaHeads

OTHERS = 256  # tokens at random that a batch is scored on besides its own
DECAY = 0.8  # a head counts this much less than the one before
# Of a feature's spread: what a layer reads below the root is never exactly the target's.
NOISE = 0.1
CROSS_ENTROPY = 0.5  # beside smooth-L1 on features
BLOCK = 8  # tokens that a block predicts
BLOCK_LAYERS = 2
RANK = 64  # of the Markov head
ANCHORS = 32  # blocks in each text of a batch
FADE = 4  # a place of a block counts exp(-1 / FADE) of the one before (DSpark, section 3)


def layer_sizes(target: PreTrainedModel) -> JsonObject:
    """The sizes of a layer like those of a target."""
    config = target.config.get_text_config()
    width = target.get_output_embeddings().weight.shape[1]
    heads = config.num_attention_heads
    return {
        "width": width,
        "heads": heads,
        "kv_heads": getattr(config, "num_key_value_heads", None) or heads,
        "mlp": getattr(config, "intermediate_size", None) or 4 * width,
        "positions": config.max_position_embeddings,
        "eps": getattr(config, "rms_norm_eps", 1e-6),
    }


@torch.no_grad()
def new_layer(target: PreTrainedModel) -> EagleLayer:
    """A layer like the target's last one, with its weights where the target is Llama-like; it
    passes on the feature."""
    sizes = layer_sizes(target)
    layer = EagleLayer(sizes)
    weights = dict(target.base_model.named_parameters())
    # The sum of feature and embedding: an identity from which it learns what to take of each.
    layer.join.weight.copy_(torch.cat([torch.eye(sizes["width"])] * 2, dim=1))
    last = f"layers.{target.config.get_text_config().num_hidden_layers - 1}."
    for name, parameter in layer.llama.model.named_parameters():
        source = weights.get(name.replace("layers.0.", last))
        if source is not None and source.shape == parameter.shape and "embed" not in name:
            parameter.copy_(source)
    return layer


def heads_loss(
    model: MedusaHeads,
    teacher: PreTrainedModel,
    rows: dict[str, torch.Tensor],
    generator: torch.Generator,
    done: float = 0.0,
) -> torch.Tensor:
    """Cross-entropy of head i at t with the target's distribution at t + i, summed with falling
    weights."""
    states, ids, p = _targets(teacher, rows, generator)
    head = teacher.get_output_embeddings().weight[ids].detach().float()
    total = states.new_zeros(())
    # Head i reads the state at t and guesses the token at t + i, so both sides are cut to what
    # exists.
    for level, matrix in enumerate(model.weight[: states.shape[1] - 1], 1):
        f = states[:, :-level]
        guesses = f + functional.silu(f @ matrix.T)
        total = total + DECAY ** (level - 1) * _cross_entropy(guesses @ head.T, p[:, level:])
    return total


def layer_loss(
    model: EagleLayer,
    teacher: PreTrainedModel,
    rows: dict[str, torch.Tensor],
    generator: torch.Generator,
    done: float = 0.0,
) -> torch.Tensor:
    """Smooth-L1 on the next feature and cross-entropy with the target's distribution there.

    In the second half of the time every other feature it reads, at random, is a guess of its own,
    as below the root (the training-time test of EAGLE-3, Li et al. 2025).
    """
    states, ids, p = _targets(teacher, rows, generator)
    head = teacher.get_output_embeddings().weight[ids].detach().float()
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
    return distance + CROSS_ENTROPY * _cross_entropy(guesses @ head.T.to(guesses), p[:, 1:])


@torch.no_grad()
def new_block(
    target: PreTrainedModel, features: Sequence[int] = (), ids: torch.Tensor | None = None
) -> BlockHead:
    """A block drafter whose first guesses are the target's own next token, and whose layers begin
    as the target's last ones.

    Args:
        target: what it will draft for.
        features: the layers of the target whose inputs it reads beside the last hidden state.
        ids: the target's tokens that it can propose, ascending; None for all.
    """
    sizes = layer_sizes(target)
    vocabulary = len(target.get_output_embeddings().weight if ids is None else ids)
    sizes |= {"layers": BLOCK_LAYERS, "block": BLOCK, "vocabulary": vocabulary, "rank": RANK}
    if features:
        sizes["features"] = list(features)
    if ids is not None:
        sizes["chosen"] = True
    head = BlockHead(sizes)
    if features:  # the last hidden state as it is, and a little of the others
        width = sizes["width"]
        head.fc.weight.normal_(0, 0.01)
        head.fc.weight[:, -width:] += torch.eye(width)
    if ids is not None:
        head.ids = ids
    weights = dict(target.base_model.named_parameters())
    first = target.config.get_text_config().num_hidden_layers - BLOCK_LAYERS
    for name, parameter in head.layers.named_parameters():
        number, _, rest = name.partition(".")
        source = weights.get(f"layers.{first + int(number)}.{rest}")
        if source is not None and source.shape == parameter.shape:
            parameter.copy_(source)
    for layer in head.layers:  # silent at first
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    head.markov_out.weight.zero_()
    for name, weight in target.base_model.named_parameters():
        if name == "norm.weight":  # features come through it, so that it is only their size
            head.norm.weight.fill_(weight.float().square().mean().sqrt())
    return head


def block_loss(
    model: BlockHead,
    teacher: PreTrainedModel,
    rows: dict[str, torch.Tensor],
    generator: torch.Generator,
    done: float = 0.0,
) -> torch.Tensor:
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
    output_rows = teacher.get_output_embeddings().weight[ids].detach().float()
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

    def attention(layer: int, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
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
    cross_entropy = -(p * log_q).sum(-1)
    distance = (p - log_q.exp()).abs().sum(-1)
    counts = torch.exp(-depth / FADE)
    each = (1 - done) * cross_entropy + done * distance
    return (each.mean(0) * counts).sum() / counts.sum()


def _targets(
    teacher: PreTrainedModel, rows: dict[str, torch.Tensor], generator: torch.Generator
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The states, the ids of the tokens that the batch is scored on, and the target's distributions
    over them."""
    ids = _scored_tokens(rows["tokens"], teacher, generator)
    head = teacher.get_output_embeddings().weight[ids].detach().float()
    states = rows["states"].to(head)[..., -head.shape[1] :]
    with torch.no_grad():
        return states, ids, torch.softmax((states @ head.T).float(), -1)


def _scored_tokens(
    tokens: torch.Tensor, teacher: PreTrainedModel, generator: torch.Generator
) -> torch.Tensor:
    """The ids of a batch's own tokens and of `OTHERS`, ascending, on the target's device."""
    vocabulary = len(teacher.get_output_embeddings().weight)
    # The batch's own tokens alone would never push down a wrong token that is not among them.
    others = torch.randint(vocabulary, (min(OTHERS, vocabulary),), generator=generator)
    return torch.cat([tokens.flatten().long().cpu(), others]).unique().to(teacher.device)


def _cross_entropy(logits: torch.Tensor, p: torch.Tensor) -> torch.Tensor:
    return -(p * torch.log_softmax(logits.float(), -1)).sum(-1).mean()
