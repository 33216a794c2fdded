"""The weights of a decoder layer of a Llama-like model, where products of the same input are one
product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch


class Layer(NamedTuple):
    """Weights of a decoder layer: matrices [out, in], and norms and biases as vectors; None for one
    that is missing.

    Gate and up are one matrix, the rows of gate first, and so are query, key and value. q_norm and
    k_norm are those of each head.
    """

    input_norm: Any
    qkv: Any
    qkv_bias: Any
    q_norm: Any
    k_norm: Any
    output: Any
    output_bias: Any
    mlp_norm: Any
    gate_up: Any
    gate_up_bias: Any
    down: Any
    down_bias: Any


def _named(module: str, *products: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters' names of the weights, and of the biases, of some products."""
    weights, biases = (
        tuple(f"{module}.{product}.{kind}" for product in products) for kind in ("weight", "bias")
    )
    return weights, biases


# The parameters of a transformers module that are below each other in each weight.
PARAMETERS = Layer(
    ("input_layernorm.weight",),
    *_named("self_attn", "q_proj", "k_proj", "v_proj"),
    ("self_attn.q_norm.weight",),
    ("self_attn.k_norm.weight",),
    *_named("self_attn", "o_proj"),
    ("post_attention_layernorm.weight",),
    *_named("mlp", "gate_proj", "up_proj"),
    *_named("mlp", "down_proj"),
)


def read_layer(module: torch.nn.Module, weight: Callable[[str], torch.Tensor]) -> Layer:
    """The weights of a layer.

    Args:
        module: the layer, with parameters on any device.
        weight: the name of a parameter of the layer -> its numbers.
    """
    present = dict(module.named_parameters())
    parts = ([weight(name) for name in names if name in present] for names in PARAMETERS)
    # A copy: products depend on its alignment.
    return Layer(*(torch.cat(some) if some else None for some in parts))


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor on a CPU as numpy and numba see them: bfloat16 as the int16 of its
    bits."""
    tensor = tensor.detach().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def raw_layer(layer: Layer) -> Layer:
    """The weights of a layer as numpy sees them; an empty array for one that is missing."""
    none = raw(layer.mlp_norm)[:0]
    return Layer(*(none if weight is None else raw(weight) for weight in layer))


def fuse(module: torch.nn.Module) -> Layer:
    """The weights of a layer in memory; the module's own parameters become views of them."""
    parameters = dict(module.named_parameters())
    layer = read_layer(module, lambda name: parameters[name].data)
    for names, whole in zip(PARAMETERS, layer, strict=True):
        start = 0
        for part in (parameters[name] for name in names if name in parameters):
            part.data = whole[start : start + len(part)]
            start += len(part)
    return layer


def window_of(config: Any) -> int | None:
    """How many tokens back the layers with a sliding window see, by a text model's configuration;
    None where it has no such layer."""
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None) or ["sliding_attention"]
    return window if window and "sliding_attention" in kinds else None
