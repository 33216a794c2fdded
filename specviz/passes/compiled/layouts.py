"""How the weights of a model are laid out for compiled passes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch

from ..layers import Layer, raw, raw_layer
from .dot_products import in_blocks
from .low_precision import low_precision


def compiled_layer(layer: Layer) -> Layer:
    """The weights of a layer as arrays for `kernels.forward`: matrices in blocks, those of gate and
    up in turn."""
    return _arranged(layer, lambda weights: in_blocks(raw(weights)))


def low_precision_layer(layer: Layer, bits: int) -> Layer:
    """The same with matrices in so many bits."""
    return _arranged(layer, lambda weights: low_precision(weights.float().numpy(), bits))


def _arranged(layer: Layer, matrix: Callable[[torch.Tensor], Any]) -> Layer:
    return raw_layer(layer)._replace(
        qkv=matrix(layer.qkv),
        output=matrix(layer.output),
        gate_up=in_turn([matrix(half) for half in layer.gate_up.chunk(2)]),
        down=matrix(layer.down),
    )


def in_turn(matrices: Sequence[Any]) -> Any:
    """The blocks of matrices of one shape in turn."""

    def merge(arrays: Sequence[np.ndarray]) -> np.ndarray:
        return np.stack(arrays, axis=1).reshape(-1, *arrays[0].shape[1:])

    return _combined(matrices, merge)


def stack_layers(layers: Iterable[Layer]) -> Layer:
    """The weights of all layers, with an axis of the layers in front."""
    return _combined(list(layers), np.stack)


def _combined(parts: Sequence[Any], combine: Callable[[Sequence[np.ndarray]], np.ndarray]) -> Any:
    """What `combine` makes of arrays, or of each field of tuples of arrays."""
    first = parts[0]
    if not isinstance(first, tuple):
        return combine(parts)
    return type(first)(*(_combined(fields, combine) for fields in zip(*parts, strict=True)))


def size_of(weights: Any) -> int:
    """Bytes of an array, or of all in a tuple."""
    return sum(map(size_of, weights)) if isinstance(weights, tuple) else weights.nbytes


def turns_of(rotary: torch.Tensor) -> np.ndarray:
    """A table of cos and sin, [positions, 2, 1, width], with a last row that turns nothing."""
    table = rotary[:, :, 0].float().numpy()
    still = np.stack([np.ones_like(table[0, 0]), np.zeros_like(table[0, 0])])
    return np.concatenate([table, still[None]])
