"""How the weights of a model are laid out for compiled passes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from ..layers import Layer, raw_layer
from .dot_products import in_blocks
from .low_precision import LowPrecision, in_turn, low_precision


def compiled_layer(layer: Layer) -> Layer:
    """The weights of a layer as arrays for `kernels.forward`: matrices in blocks, those of gate and
    up in turn."""
    arrays = raw_layer(layer)
    blocks = Layer(*(in_blocks(array) if array.ndim == 2 else array for array in arrays))
    gate, up = map(in_blocks, np.split(arrays.gate_up, 2))
    return blocks._replace(gate_up=np.stack([gate, up], axis=1).reshape(-1, *gate.shape[1:]))


def low_precision_layer(layer: Layer, bits: int) -> Layer:
    """The same with matrices in so many bits."""

    def matrix(weights: torch.Tensor, parts: int = 1) -> LowPrecision:
        halves = np.split(weights.float().numpy(), parts)
        return in_turn([low_precision(half, bits) for half in halves])

    return raw_layer(layer)._replace(
        qkv=matrix(layer.qkv),
        output=matrix(layer.output),
        gate_up=matrix(layer.gate_up, 2),
        down=matrix(layer.down),
    )


def stack_layers(layers: Iterable[Layer]) -> Layer:
    """The weights of all layers, with an axis of the layers in front."""

    def stack(parts: Sequence[Any]) -> Any:
        if isinstance(parts[0], LowPrecision):
            return LowPrecision(*map(stack, zip(*parts, strict=True)))
        return np.stack(parts)

    return Layer(*map(stack, zip(*layers, strict=True)))


def size_of(weights: Any) -> int:
    """Bytes of an array, or of all in a tuple."""
    return sum(map(size_of, weights)) if isinstance(weights, tuple) else weights.nbytes


def turns_of(rotary: torch.Tensor) -> np.ndarray:
    """A table of cos and sin, [positions, 2, 1, width], with a last row that turns nothing."""
    table = rotary[:, :, 0].float().numpy()
    still = np.stack([np.ones_like(table[0, 0]), np.zeros_like(table[0, 0])])
    return np.concatenate([table, still[None]])
