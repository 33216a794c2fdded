"""Products of tokens and weights, shared out among threads.

Numbers are float32, or the int16 of bfloat16's bits; sums are float32 in either case, and rounded
where the model's own forward rounds.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np
from numba import njit, types
from numba.extending import overload

from .dot_products import BLOCK, MAX_TOKENS, atomic_add, atomic_load, multiply
from .helpers import FAILED
from .low_precision import block_count, in_bytes, multiply_low, part_of
from .numbers import bf16_to_f32, exp, f32_to_bf16, in_order
from .tiles import (
    HAS_TILES,
    MAX_ROWS,
    SHAPES,
    TILE_PAIRS,
    TILE_ROWS,
    tile_configure,
    tile_load,
    tile_multiply_add,
    tile_release,
    tile_store,
)

CHUNKS = 8  # of a product, at least, where it has so many blocks
SILU, GELU = 1, 2  # activations of the gated part; GELU by tanh
SPINS = 2000  # looks at a counter before a thread lets others run

_yield = types.ExternalFunction(
    "SwitchToThread" if os.name == "nt" else "sched_yield", types.int32()
)


class Linear(NamedTuple):
    """A product with weights, and what comes before and after it.

    Args:
        norm: weights of a norm of its inputs, [in]; [0] for none.
        weights: in blocks, of `in_blocks` or `low_precision`.
        bias: of its outputs, [out]; [0] for none.
    """

    norm: Any
    weights: Any
    bias: Any


# No code on disk: numba cannot compile callers of a generator that it loaded.
@njit(error_model="numpy", nogil=True)
def take_chunks(counters, phase, chunks):
    """The chunks of a phase that no other thread took; ends when all are done, or a thread
    failed."""
    while True:
        chunk = atomic_add(counters, 2 * phase)
        if chunk >= chunks:
            break
        yield chunk
        atomic_add(counters, 2 * phase + 1)
    looks = 0
    while atomic_load(counters, 2 * phase + 1) < chunks and not atomic_load(
        counters, len(counters) + FAILED
    ):
        looks += 1
        if looks > SPINS:
            _yield()


@in_order
def normalise_rows(x, weight, eps, out):
    """out = x / rms(x) * weight; x and out [m, width]."""
    for row in range(len(x)):
        normalise(x[row], weight, eps, out[row])


@in_order
def normalise(x, weight, eps, out):
    """out = x / rms(x) * weight of one row.

    The order of the sum is written out: `BLOCK` sums side by side, which are then added by halves.
    Left to the optimizer it would be faster in one order for one width and in another for the next.
    """
    width = len(weight)
    whole, sums = width - width % BLOCK, np.zeros(BLOCK, np.float32)
    for start in range(0, whole, BLOCK):
        for lane in range(BLOCK):
            number = bf16_to_f32(x[start + lane])
            sums[lane] += number * number
    for i in range(whole, width):
        number = bf16_to_f32(x[i])
        sums[i - whole] += number * number
    for half in (16, 8, 4, 2, 1):
        for lane in range(half):
            sums[lane] += sums[half + lane]
    scale = np.float32(1) / np.sqrt(sums[0] / np.float32(width) + np.float32(eps))
    for i in range(width):
        out[i] = f32_to_bf16(bf16_to_f32(x[i]) * scale * bf16_to_f32(weight[i]), out[i])


@in_order
def block_product(weights, x, sums):
    """sums = x W^T for one block of outputs; sums float32 [m, BLOCK].

    A token's sums are the same bits whatever tokens are beside it: every number of tokens is
    multiplied in the same way, in tile registers or by vectors.
    """
    if _multiply_by_tiles(weights, x, sums):
        return
    m = len(x)
    groups, first = -(-m // MAX_TOKENS), 0
    for group in range(groups):
        count = (m - first + groups - group - 1) // (groups - group)
        multiply(weights, x, first, count, sums)
        first += count


def _multiply_by_tiles(weights, x, sums):
    """`block_product` in tile registers; whether they can do it."""


@overload(_multiply_by_tiles)
def _(weights, x, sums):
    if not (HAS_TILES and weights.dtype == types.int32):
        return lambda weights, x, sums: False

    def by_tiles(weights, x, sums):
        if len(weights) % TILE_PAIRS:
            return False
        for first in range(0, len(x), MAX_ROWS):
            tokens = min(MAX_ROWS, len(x) - first)
            second = first + TILE_ROWS
            # 0 and 1 are the sums of the first 16 tokens over both halves of the outputs, 2 and 3
            # those of the second 16; 4 and 5 their inputs; 6 and 7 the weights of both halves.
            tile_configure(SHAPES, tokens)
            for pair in range(0, len(weights), TILE_PAIRS):
                tile_load(6, weights, pair, 0)
                tile_load(7, weights, pair, TILE_PAIRS)
                tile_load(4, x, first, 2 * pair)
                tile_multiply_add(0, 4, 6)
                tile_multiply_add(1, 4, 7)
                if tokens > TILE_ROWS:
                    tile_load(5, x, second, 2 * pair)
                    tile_multiply_add(2, 5, 6)
                    tile_multiply_add(3, 5, 7)
            tile_store(0, sums, first, 0)
            tile_store(1, sums, first, TILE_PAIRS)
            if tokens > TILE_ROWS:
                tile_store(2, sums, second, 0)
                tile_store(3, sums, second, TILE_PAIRS)
        tile_release()
        return True

    return by_tiles


def multiply_block(weights, x, sums):
    """`block_product` for weights as they are or in low precision, of which x is `in_bytes`."""


@overload(multiply_block)
def _(weights, x, sums):
    if isinstance(weights, types.BaseTuple):
        return lambda weights, x, sums: multiply_low(weights, x, sums)
    return lambda weights, x, sums: block_product(weights, x, sums)


@in_order
def product(counters, phase, x, linear, eps, plus, out, activation):
    """out = linear(x) + plus, rounded as x is; with an activation, out = act(gate) * up of that.

    Args:
        counters, phase: by which threads share out the blocks of outputs.
        x: [m, in].
        linear: weights; blocks of gate and up in turn, and the bias of gate first.
        eps: of the norm.
        plus: [m, out], [0, 0] for none; it may be `out` itself.
        activation: `SILU` or `GELU`; 0 for none.
    """
    (m, outputs), parts = out.shape, 1 + (activation > 0)
    blocks = block_count(linear.weights) // parts
    each = max(1, blocks // CHUNKS)
    chunks = -(-blocks // each) if m else 0
    sums = np.empty((parts, m, BLOCK), np.float32)
    # Here for numba, which must know the types before the loop.
    normed, inputs = x, in_bytes(linear.weights, x[:0])
    is_first = True
    for chunk in take_chunks(counters, phase, chunks):
        if is_first:
            # By each thread for itself: that is faster than to wait for each other.
            is_first = False
            if len(linear.norm):
                normed = np.empty_like(x)
                normalise_rows(x, linear.norm, eps, normed)
            inputs = in_bytes(linear.weights, normed)
        for block in range(chunk * each, min(blocks, (chunk + 1) * each)):
            start = block * BLOCK
            for part in range(parts):
                weights = part_of(linear.weights, parts * block + part)
                multiply_block(weights, inputs, sums[part])
            for row in range(m):
                if len(linear.bias):
                    for part in range(parts):
                        begin = part * outputs
                        add(sums[part, row], linear.bias, begin + start, begin + outputs)
                if len(plus):
                    add(sums[0, row], plus[row], start, outputs)
                if activation:
                    gate(sums[0, row], sums[1, row], out[row], start, outputs, activation)
                else:
                    round_to(sums[0, row], x[0, 0], out[row], start, outputs)


# The loops below count with unsigned numbers. A signed index may be negative, and then counts from
# the end of the array: numba would check that for every element, and use no vectors.


@in_order
def add(sums, more, first, end):
    """sums += more[first:end], at most a block."""
    for lane in range(np.uintp(min(BLOCK, end - first))):
        sums[lane] += bf16_to_f32(more[np.uintp(first) + lane])


@in_order
def round_to(sums, like, out, first, end):
    """out[first:end] = sums, at most a block, rounded to the type of `like`."""
    for lane in range(np.uintp(min(BLOCK, end - first))):
        number = bf16_to_f32(f32_to_bf16(sums[lane], like))
        out[np.uintp(first) + lane] = f32_to_bf16(number, out[0])


@in_order
def gate(gates, ups, out, first, end, activation):
    """out[first:end] = act(gates) * ups, at most a block."""
    # Both are z sigmoid(s): s = z is SiLU, and 2 sqrt(2 / pi) (z + 0.044715 z^3) is GELU by tanh.
    linear = np.float32(1 if activation == SILU else 1.5957691216)
    cubic = np.float32(0 if activation == SILU else 0.0713548163)
    for lane in range(np.uintp(min(BLOCK, end - first))):
        number = bf16_to_f32(f32_to_bf16(gates[lane], out[0]))
        up = bf16_to_f32(f32_to_bf16(ups[lane], out[0]))
        inner = number * (linear + cubic * number * number)
        part = exp(-abs(inner))
        sigmoid = (np.float32(1) if inner > 0 else part) / (np.float32(1) + part)
        out[np.uintp(first) + lane] = f32_to_bf16(number * sigmoid * up, out[0])
