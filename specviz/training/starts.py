"""What drafters begin as: weights of their target."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ..base.codec import JsonObject
from ..models.heads.block import BlockHead
from ..models.heads.eagle import EagleLayer

BLOCK = 8  # tokens that a block predicts
BLOCK_LAYERS = 2
RANK = 64  # of the Markov head


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
def copy_weights(
    module: nn.Module,
    weights: Mapping[str, Tensor],
    name_of: Callable[[str], str] = lambda name: name,
) -> None:
    """Give a module the weights of the same shape, as far as there are such.

    Args:
        module: what gets them.
        weights: by name.
        name_of: from the name of a parameter of the module to that of its weight.
    """
    for name, parameter in module.named_parameters():
        source = weights.get(name_of(name))
        if source is not None and source.shape == parameter.shape:
            parameter.copy_(source)


@torch.no_grad()
def new_layer(target: PreTrainedModel) -> EagleLayer:
    """A layer like the target's last one, with its weights where the target is Llama-like; it
    passes on the feature."""
    sizes = layer_sizes(target)
    layer = EagleLayer(sizes)
    # The sum of feature and embedding: an identity from which it learns what to take of each.
    layer.join.weight.copy_(torch.cat([torch.eye(sizes["width"])] * 2, dim=1))
    last = f"layers.{target.config.get_text_config().num_hidden_layers - 1}."
    weights = dict(target.base_model.named_parameters())
    copy_weights(layer.llama.model, weights, lambda name: name.replace("layers.0.", last))
    return layer


@torch.no_grad()
def new_block(
    target: PreTrainedModel, features: Sequence[int] = (), ids: Tensor | None = None
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

    def source(name: str) -> str:
        number, _, rest = name.partition(".")
        return f"layers.{first + int(number)}.{rest}"

    copy_weights(head.layers, weights, source)
    for layer in head.layers:  # silent at first
        layer.self_attn.o_proj.weight.zero_()
        layer.mlp.down_proj.weight.zero_()
    head.markov_out.weight.zero_()
    if "norm.weight" in weights:  # features come through it, so that it is only their size
        head.norm.weight.fill_(weights["norm.weight"].float().square().mean().sqrt())
    return head
