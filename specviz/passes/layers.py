"""The weights of a decoder layer of a Llama-like model, where products of the same input are one product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch


class Layer(NamedTuple):
    """Weights of a decoder layer: matrices [out, in], and norms and biases as vectors; None for a bias that is missing.

    Gate and up are one matrix, the rows of gate first, and so are query, key and value.
    """

    input_norm: Any
    qkv: Any
    qkv_bias: Any
    output: Any
    output_bias: Any
    mlp_norm: Any
    gate_up: Any
    gate_up_bias: Any
    down: Any
    down_bias: Any


def _named(module: str, *products: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The parameters' names of the weights, and of the biases, of some products."""
    weights, biases = (tuple(f"{module}.{product}.{kind}" for product in products) for kind in ("weight", "bias"))
    return weights, biases


# The parameters of a transformers module that are below each other in each weight.
PARAMETERS = Layer(
    ("input_layernorm.weight",), *_named("self_attn", "q_proj", "k_proj", "v_proj"), *_named("self_attn", "o_proj"),
    ("post_attention_layernorm.weight",), *_named("mlp", "gate_proj", "up_proj"), *_named("mlp", "down_proj"),
)  # fmt: skip


def fuse(module: torch.nn.Module) -> Layer:
    """The weights of a layer in memory; the module's own parameters become views of them."""
    parameters = dict(module.named_parameters())

    def joined(names: tuple[str, ...]) -> torch.Tensor | None:
        parts = [parameters[name] for name in names if name in parameters]
        if not parts:
            return None
        whole = torch.cat([part.data for part in parts])  # a single part as well: products depend on its alignment
        for part, view in zip(parts, whole.split([len(part) for part in parts]), strict=True):
            part.data = view
        return whole

    return Layer(*map(joined, PARAMETERS))


def read_layer(module: torch.nn.Module, weight: Callable[[str], torch.Tensor]) -> Layer:
    """The weights of a layer that is not in memory.

    Args:
        module: the layer, with parameters on any device.
        weight: the name of a parameter of the layer -> its numbers.
    """
    names = dict(module.named_parameters()).keys()

    def joined(parts: tuple[str, ...]) -> torch.Tensor | None:
        parts = tuple(name for name in parts if name in names)
        return torch.cat([weight(name) for name in parts]) if parts else None

    return Layer(*map(joined, PARAMETERS))
