"""Weights in a few bits, with a scale for every `GROUP` inputs of an output.

They lie in the same blocks as other weights (`dot_products.py`): a code holds the two inputs of a
pair, the first in its low bits. They are unpacked where they are multiplied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from .dot_products import BLOCK, GROUP, MAX_TOKENS, in_blocks, multiply_groups
from .numbers import bf16_to_f32, exact

CODES = {4: np.uint8, 8: np.uint16}  # the type that holds two numbers of so many bits
SHRINKING = (1.0, 0.9, 0.8)  # of the range: large weights lose, most others win


class LowPrecision(NamedTuple):
    """A matrix [out, in] in a few bits.

    Args:
        codes: [blocks, in / 2, BLOCK].
        scales: float32 [blocks, in / GROUP, BLOCK].
    """

    codes: Any
    scales: Any


def low_precision(matrix: np.ndarray, bits: int) -> LowPrecision:
    """A matrix [out, in] of float32 in so many bits, 4 or 8; `in` is a multiple of `GROUP`."""
    highest = (1 << (bits - 1)) - 1
    weights = in_blocks(matrix)
    blocks, inputs, _ = weights.shape
    groups = weights.reshape(blocks, inputs // GROUP, GROUP, BLOCK)
    largest = np.abs(groups).max(axis=2, keepdims=True) / highest
    largest[largest == 0] = 1
    best = np.full(largest.shape, np.inf, np.float32)
    scales = largest
    for factor in SHRINKING:  # the range whose errors are the smallest squares
        scale = (factor * largest).astype(np.float32)
        numbers = np.clip(np.round(groups / scale), -highest - 1, highest)
        error = np.square(numbers * scale - groups).sum(axis=2, keepdims=True)
        scales = np.where(error < best, scale, scales)
        best = np.minimum(best, error)
    numbers = np.clip(np.round(groups / scales), -highest - 1, highest) + highest + 1
    pairs = numbers.astype(CODES[bits]).reshape(blocks, inputs // 2, 2, BLOCK)
    codes = pairs[:, :, 0] | pairs[:, :, 1] << bits
    return LowPrecision(codes, scales[:, :, 0].astype(np.float32))


def part_of(weights, number):
    """The weights of one layer of many, or of one block."""


@overload(part_of, inline="always")
def _(weights, number):
    if isinstance(weights, types.BaseTuple):
        return lambda weights, number: LowPrecision(weights.codes[number], weights.scales[number])
    return lambda weights, number: weights[number]


def block_count(weights):
    """How many blocks of outputs a matrix has."""


@overload(block_count, inline="always")
def _(weights):
    if isinstance(weights, types.BaseTuple):
        return lambda weights: len(weights.codes)
    return lambda weights: len(weights)


@exact
def unpacked(block):
    """A block in float32, [in, BLOCK]."""
    bits = 4 * block.codes.itemsize
    mask, half = (1 << bits) - 1, 1 << (bits - 1)
    out = np.empty((2 * len(block.codes), BLOCK), np.float32)
    for pair in range(len(block.codes)):
        scales = block.scales[2 * pair // GROUP]
        for lane in range(BLOCK):
            code = np.int32(block.codes[pair, lane])
            out[2 * pair, lane] = np.float32((code & mask) - half) * scales[lane]
            out[2 * pair + 1, lane] = np.float32((code >> bits) - half) * scales[lane]
    return out


def sums_of_groups(weights, x):
    """Sums of the inputs that share a scale, float32 [m, groups], which `multiply_low` takes;
    [0, 0] for weights that need none."""


@overload(sums_of_groups)
def _(weights, x):
    if isinstance(weights, types.BaseTuple) and isinstance(x.dtype, types.Integer):
        return lambda weights, x: _sums_of_groups(x)
    return lambda weights, x: np.empty((0, 0), np.float32)


@exact
def _sums_of_groups(x):
    groups = x.shape[1] // GROUP
    sums = np.zeros((len(x), groups), np.float32)
    for row in range(len(x)):
        for group in range(groups):
            for i in range(group * GROUP, (group + 1) * GROUP):
                sums[row, group] += bf16_to_f32(x[row, i])
    return sums


@exact
def multiply_low(block, x, group_sums, sums):
    """sums = x W^T for one block and tokens in bfloat16; sums float32 [m, BLOCK]."""
    for first in range(0, len(x), MAX_TOKENS):
        count = min(MAX_TOKENS, len(x) - first)
        multiply_groups(block.codes, block.scales, x, group_sums, first, count, sums)
