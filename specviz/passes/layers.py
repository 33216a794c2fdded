"""The weights of a decoder layer of a Llama-like model, where products of the same input are one
product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import torch
from transformers import PreTrainedConfig

# A tensor, the array of it that numba reads, or the names of the parameters that it is made of.
Weight: TypeAlias = Any


class Layer(NamedTuple):
    """Weights of a decoder layer: matrices [out, in], and norms and biases as vectors; None for one
    that is missing.

    Gate and up are one matrix, the rows of gate first, and so are query, key and value. q_norm and
    k_norm are those of each head, or of all heads together. output_norm and down_norm are of what
    attention and the gated part are about to add to the hidden state.
    """

    input_norm: Weight
    qkv: Weight
    qkv_bias: Weight
    q_norm: Weight
    k_norm: Weight
    output: Weight
    output_bias: Weight
    output_norm: Weight
    mlp_norm: Weight
    gate_up: Weight
    gate_up_bias: Weight
    down: Weight
    down_bias: Weight
    down_norm: Weight


def _named(module: str, *products: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters' names of the weights, and of the biases, of some products."""
    names = [f"{module}.{product}" for product in products]
    return tuple(f"{name}.weight" for name in names), tuple(f"{name}.bias" for name in names)


# The parameters of a transformers module that are below each other in each weight.
PARAMETERS = Layer(
    ("input_layernorm.weight",),
    *_named("self_attn", "q_proj", "k_proj", "v_proj"),
    ("self_attn.q_norm.weight",),
    ("self_attn.k_norm.weight",),
    *_named("self_attn", "o_proj"),
    (),
    ("post_attention_layernorm.weight",),
    *_named("mlp", "gate_proj", "up_proj"),
    *_named("mlp", "down_proj"),
    (),
)
# Where results are normed as well (Gemma 3), or they alone (OLMo 2), the same name is another norm.
NORMED_RESULTS = PARAMETERS._replace(
    output_norm=("post_attention_layernorm.weight",),
    mlp_norm=("pre_feedforward_layernorm.weight",),
    down_norm=("post_feedforward_layernorm.weight",),
)


def _parameters_of(module: torch.nn.Module) -> tuple[dict[str, torch.nn.Parameter], Layer]:
    """The parameters of a layer by name, and which names make each weight."""
    present = dict(module.named_parameters())
    names = PARAMETERS
    if NORMED_RESULTS.down_norm[0] in present:
        names = NORMED_RESULTS
    # A weight of which the layer has no part, a bias say, is an empty list.
    return present, Layer(*([name for name in some if name in present] for some in names))


def adds_one(module: torch.nn.Module) -> bool:
    """Whether the norms of a layer, or a norm, multiply by 1 + weight in float32, as Gemma's do."""
    return type(module).__name__.startswith("Gemma")


def norm_weight(module: torch.nn.Module, weight: torch.Tensor) -> torch.Tensor:
    """What a norm, or one of a layer's, multiplies by, of its parameter."""
    if adds_one(module):
        return weight.float() + 1
    return weight


def read_layer(module: torch.nn.Module, weight: Callable[[str], torch.Tensor]) -> Layer:
    """The weights of a layer.

    Args:
        module: the layer, with parameters on any device.
        weight: the name of a parameter of the layer -> its numbers.
    """
    _, names_of = _parameters_of(module)
    weights: list[torch.Tensor | None] = []
    for field, names in names_of._asdict().items():
        parts = list(map(weight, names))
        # A copy: products depend on its alignment.
        whole = None
        if parts:
            whole = torch.cat(parts)
        if whole is not None and field.endswith("norm"):
            whole = norm_weight(module, whole)
        weights.append(whole)
    return Layer(*weights)


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor on a CPU as numpy and numba see them: bfloat16 as the int16 of its
    bits."""
    tensor = tensor.detach().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def tensor_of(array: np.ndarray) -> torch.Tensor:
    """The tensor of which `raw` made an array."""
    tensor = torch.from_numpy(array)
    if array.dtype == np.int16:
        return tensor.view(torch.bfloat16)
    return tensor


def raw_layer(layer: Layer) -> Layer:
    """The weights of a layer as numpy sees them; an empty array for one that is missing."""
    # Of the same type as the others: a compiled function has one signature.
    none = raw(layer.down)[0, :0]
    return Layer(*(none if weight is None else raw(weight) for weight in layer))


def fuse(module: torch.nn.Module) -> Layer:
    """The weights of a layer in memory; the module's own parameters become views of them."""
    parameters, names_of = _parameters_of(module)
    layer = read_layer(module, lambda name: parameters[name].data)
    for field, names in names_of._asdict().items():
        if field.endswith("norm") and adds_one(module):
            continue  # such a norm multiplies by 1 + weight, of which the parameter is no view
        # Views of the fused matrix: training, saving and hashing see the same numbers as the pass.
        start = 0
        for name in names:
            part = parameters[name]
            part.data = getattr(layer, field)[start : start + len(part)]
            start += len(part)
    return layer


def window_of(config: PreTrainedConfig) -> int | None:
    """How many tokens back the layers with a sliding window see, by a text model's configuration;
    None where it has no such layer."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"]
    if window and "sliding_attention" in kinds:
        return window
    return None
