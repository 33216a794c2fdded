"""Weights in a few bits: whole numbers, with a scale and a lowest weight for every `GROUP` inputs
of an output, and tokens in bytes that meet them.

The weights lie in the same blocks as others (`dot_products.py`). Those that come from a file in 4
bits of this kind, as Q4_1 of GGUF, lose next to nothing here.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
from numba import types
from numba.extending import overload

from .byte_products import GROUP, MOST, multiply_bytes
from .dot_products import BLOCK, in_blocks
from .numbers import bf16_to_f32, compiled, in_order

WORDS = {4: np.uint32, 8: np.int32}  # the type of words by the bits of a code
SHRINKING = (1.0, 0.9, 0.8)  # of the range: the outermost weights lose, most others win


class LowPrecision(NamedTuple):
    """A matrix [out, in] in a few bits: a weight is its code times a scale, plus the lowest weight.

    Args:
        codes: words of 32 bits, [blocks, in * bits / 32, BLOCK]. A byte holds an input, or in 4
            bits an input and that four places behind it, so that a shift and a mask give four.
        factors: the scale in the lower half of int32, the lowest weight in the upper half, each a
            bfloat16, [blocks, in / GROUP, BLOCK].
    """

    codes: Any
    factors: Any


def low_precision(matrix: np.ndarray, bits: int) -> LowPrecision:
    """A matrix [out, in] of float32 in so many bits, 4 or 8; `in` is a multiple of `GROUP`."""
    highest = (1 << bits) - 1
    weights = in_blocks(matrix)
    blocks, inputs, _ = weights.shape
    groups = weights.reshape(blocks, inputs // GROUP, GROUP, BLOCK)
    low = groups.min(axis=2, keepdims=True)
    high = groups.max(axis=2, keepdims=True)
    middle = (low + high) / 2
    best = np.full(low.shape, np.inf, np.float32)
    numbers = np.zeros(groups.shape, np.float32)
    factors = np.zeros(low.shape, np.int32)
    for shrinking in SHRINKING:  # the range whose errors are the smallest squares
        scale, scale_bits = _in_bfloat16((high - low) * shrinking / highest)
        lowest, lowest_bits = _in_bfloat16(middle + (low - middle) * shrinking)
        steps = (groups - lowest) / np.where(scale == 0, 1, scale)
        codes = np.clip(np.round(steps), 0, highest)
        error = np.square(codes * scale + lowest - groups).sum(axis=2, keepdims=True)
        is_better = error < best
        best = np.minimum(best, error)
        numbers = np.where(is_better, codes, numbers)
        factors = np.where(is_better, scale_bits | lowest_bits << 16, factors)
    by_four = numbers.astype(np.uint8).reshape(blocks, -1, 8 // bits, 4, BLOCK)
    codes = by_four[:, :, 0]
    if bits == 4:
        codes = codes | by_four[:, :, 1] << 4
    words = np.ascontiguousarray(codes.swapaxes(2, 3)).view(WORDS[bits])[..., 0]
    return LowPrecision(words, np.ascontiguousarray(factors[:, :, 0]))


def _in_bfloat16(numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Numbers rounded to bfloat16, and their bits as int32."""
    rounded = torch.from_numpy(numbers).bfloat16()
    bits = rounded.view(torch.int16).numpy().astype(np.int32) & 0xFFFF
    return rounded.float().numpy(), bits


def part_of(weights, number):
    """The weights of one layer of many, or of one block."""


@overload(part_of, inline="always")
def _(weights, number):
    if isinstance(weights, types.BaseTuple):
        return lambda weights, number: LowPrecision(weights.codes[number], weights.factors[number])
    return lambda weights, number: weights[number]


def block_count(weights):
    """How many blocks of outputs a matrix has."""


@overload(block_count, inline="always")
def _(weights):
    if isinstance(weights, types.BaseTuple):
        return lambda weights: len(weights.codes)
    return lambda weights: len(weights)


class Bytes(NamedTuple):
    """Tokens in bytes, with a scale for every `GROUP` inputs.

    Args:
        codes: int8 [m, in].
        scales: float32 [m, groups].
        sums: of the inputs of each group, float32 [m, groups].
    """

    codes: Any
    scales: Any
    sums: Any


def in_bytes(weights, x):
    """`Bytes` of tokens for weights in low precision; the tokens themselves for any other."""


@overload(in_bytes)
def _(weights, x):
    if isinstance(weights, types.BaseTuple):
        return lambda weights, x: _in_bytes(x)
    return lambda weights, x: x


@compiled("nnan", "nsz")
def _largest(numbers):
    """The largest of `GROUP` numbers, without NaN; overwrites them."""
    for half in (16, 8, 4, 2, 1):
        for lane in range(half):
            numbers[lane] = max(numbers[lane], numbers[half + lane])
    return numbers[0]


@in_order
def _in_bytes(x):
    m, groups = len(x), x.shape[1] // GROUP
    codes = np.empty(x.shape, np.int8)
    scales, sums = np.empty((m, groups), np.float32), np.empty((m, groups), np.float32)
    numbers, sizes = np.empty(GROUP, np.float32), np.empty(GROUP, np.float32)
    for row in range(m):
        for group in range(groups):
            start = np.uintp(group * GROUP)
            for i in range(np.uintp(GROUP)):
                number = bf16_to_f32(x[row, start + i])
                numbers[i] = number
                sizes[i] = abs(number)
            scale = _largest(sizes) / np.float32(127)
            # A group of zeros, or of what is nearly zero, becomes zeros.
            factor = np.float32(1) / scale if scale > np.float32(1e-30) else np.float32(0)
            total = np.int32(0)
            for i in range(np.uintp(GROUP)):
                # Rounds to a whole number, in the lowest bits.
                shifted = numbers[i] * factor + np.float32(12582912)
                code = np.int32(np.float32(shifted).view(np.int32) - 0x4B400000)
                codes[row, start + i] = code
                total += code
            scales[row, group] = scale
            sums[row, group] = scale * np.float32(total)
    return Bytes(codes, scales, sums)


@in_order
def multiply_low(block, tokens, sums):
    """sums = x W^T for one block and tokens in bytes; sums float32 [m, BLOCK]."""
    first, x = 0, tokens.codes
    while first < len(sums):
        count = MOST
        while count > len(sums) - first:
            count //= 2
        multiply_bytes(
            block.codes, block.factors, x, tokens.scales, tokens.sums, first, count, sums
        )
        first += count
