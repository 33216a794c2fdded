"""Weights in a few bits, with a scale for every `GROUP` inputs of an output.

They lie in the same blocks as other weights (`dot_products.py`): a code holds the two inputs of a
pair, the first in its low bits. A block is unpacked to the tokens' type where it is multiplied.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from .dot_products import BLOCK, in_blocks
from .numbers import exact, f32_to_bf16

GROUP = 32  # inputs that share a scale
CODES = {4: np.uint8, 8: np.uint16}  # the type that holds two numbers of so many bits
SHRINKING = (1.0, 0.95, 0.9, 0.85, 0.8, 0.75)  # of the range: large weights lose, most others win


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


def unpacked(block, like):
    """A block as `multiply` reads it, with tokens of the type of `like`."""


@overload(unpacked)
def _(block, like):
    if not isinstance(block, types.BaseTuple):
        return lambda block, like: block
    if not isinstance(like, types.Integer):

        def single(block, like):
            out = np.empty((2 * len(block.codes), BLOCK), np.float32)
            _unpack(block, out[::2], out[1::2])
            return out

        return single

    def paired(block, like):
        out = np.empty((len(block.codes), BLOCK), np.int32)
        _unpack_pairs(block, out)
        return out

    return paired


@exact
def _unpack(block, first, second):
    bits = 4 * block.codes.itemsize
    mask, half = (1 << bits) - 1, 1 << (bits - 1)
    for pair in range(len(block.codes)):
        scales = block.scales[2 * pair // GROUP]
        for lane in range(BLOCK):
            code = np.int32(block.codes[pair, lane])
            first[pair, lane] = np.float32((code & mask) - half) * scales[lane]
            second[pair, lane] = np.float32((code >> bits) - half) * scales[lane]


@exact
def _unpack_pairs(block, out):
    bits = np.int32(4 * block.codes.itemsize)
    mask, half = np.int32((1 << bits) - 1), np.int32(1 << (bits - 1))
    like = np.int16(0)
    for pair in range(len(block.codes)):
        scales = block.scales[2 * pair // GROUP]
        for lane in range(BLOCK):
            code = np.int32(block.codes[pair, lane])
            first = np.float32(np.int32(code & mask) - half) * scales[lane]
            second = np.float32(np.int32(code >> bits) - half) * scales[lane]
            low = np.int32(f32_to_bf16(first, like)) & np.int32(0xFFFF)
            out[pair, lane] = np.int32(np.int32(f32_to_bf16(second, like)) << 16) | low
