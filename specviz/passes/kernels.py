"""What a pass computes between its matrix products, compiled by numba.

Numbers are float32, or the int16 of bfloat16's bits; sums are float32 in either case. All of it runs in one
thread, a few microseconds at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import overload


def _wide(number):
    """A number as float32."""


def _narrow(number, like):
    """A float32 as the type of `like`, rounded to the nearest, ties to even."""


@overload(_wide, inline="always")
def _(number):
    if isinstance(number, types.Integer):
        return lambda number: np.int32(np.int32(number) << 16).view(np.float32)
    return lambda number: number


@overload(_narrow, inline="always")
def _(number, like):
    if isinstance(like, types.Integer):

        def rounded(number, like):
            bits = np.float32(number).view(np.int32)
            return np.int16((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16)

        return rounded
    return lambda number, like: number


def _compiled(fast: set[str]) -> Any:
    """A decorator that compiles a function when it is first called, and keeps the code on disk where it can."""

    def compile_later(function: Any) -> Any:
        try:
            return njit(fastmath=fast, error_model="numpy", cache=True)(function)
        except RuntimeError:  # neither this folder nor the user's cache can be written
            return njit(fastmath=fast, error_model="numpy")(function)

    return compile_later


_fast = _compiled({"reassoc", "contract", "arcp", "nsz"})  # not "ninf": a mask may be -inf
_exact = _compiled({"contract"})


@_exact
def _exp(x):
    """e^x for x <= 0 in float32, to 2e-7; written out so that it is computed for many numbers at once."""
    x = np.float32(-87) if x < np.float32(-87) else x
    shifted = x * np.float32(1.44269504) + np.float32(12582912)  # rounds to a whole number, in the lowest bits
    n = shifted - np.float32(12582912)
    r = x - n * np.float32(0.693359375) + n * np.float32(2.12194440e-4)
    y = np.float32(1.9875691500e-4)
    y = y * r + np.float32(1.3981999507e-3)
    y = y * r + np.float32(8.3334519073e-3)
    y = y * r + np.float32(4.1665795894e-2)
    y = y * r + np.float32(1.6666665459e-1)
    y = y * r + np.float32(5.0000001201e-1)
    y = y * r * r + r + np.float32(1)
    return y * np.int32((np.float32(shifted).view(np.int32) - 0x4B400000 + 127) << 23).view(np.float32)


@_fast
def norm(x, weight, eps, out):
    """out = x / rms(x) * weight; x and out [m, width]."""
    m, width = x.shape
    for row in range(m):
        total = np.float32(0)
        for i in range(width):
            each = _wide(x[row, i])
            total += each * each
        scale = np.float32(1) / np.sqrt(total / np.float32(width) + np.float32(eps))
        for i in range(width):
            out[row, i] = _narrow(_wide(x[row, i]) * scale * _wide(weight[i]), out[row, i])


@_fast
def turn(qkv, table, positions, keys, values, used, q):
    """Rotary embeddings of queries and keys, and the write of keys and values to the slots from `used` on.

    qkv [m, (heads + 2 key heads) * width]; table [positions, 2, width]; keys, values [key heads, slots, width];
    q [heads, m, width].
    """
    heads, m, width = q.shape
    kv_heads, half = len(keys), width // 2
    for row in range(m):
        cos, sin = table[positions[row], 0], table[positions[row], 1]
        for head in range(heads + kv_heads):
            to = q[head, row] if head < heads else keys[head - heads, used + row]
            given = qkv[row, head * width : (head + 1) * width]
            for i in range(half):
                low, high = _wide(given[i]), _wide(given[i + half])
                to[i] = low * cos[i] + high * sin[i]
                to[i + half] = high * cos[i + half] + low * sin[i + half]
        for head in range(kv_heads):
            for i in range(width):
                values[head, used + row, i] = _wide(qkv[row, (heads + kv_heads + head) * width + i])


@_fast
def attend(q, keys, values, slots, mask, scale, out):
    """Softmax attention of q [heads, m, width] to the first `slots` of keys and values; out [m, heads * width].

    mask: added to the products, [m, slots]; [0, 0] for none.
    """
    heads, m, width = q.shape
    group = heads // len(keys)
    scores, mixed = np.empty(slots, np.float32), np.empty(width, np.float32)
    for head in range(heads):
        k, v = keys[head // group], values[head // group]
        for row in range(m):
            highest = np.float32(-np.inf)
            for slot in range(slots):
                product = np.float32(0)
                for i in range(width):
                    product += q[head, row, i] * k[slot, i]
                product *= np.float32(scale)
                if len(mask):
                    product += mask[row, slot]
                scores[slot] = product
                highest = max(highest, product)
            total = np.float32(0)
            for slot in range(slots):
                scores[slot] = _exp(scores[slot] - highest)
                total += scores[slot]
            mixed[:] = 0
            for slot in range(slots):
                share = scores[slot]
                if share > 0:
                    for i in range(width):
                        mixed[i] += share * v[slot, i]
            for i in range(width):
                out[row, head * width + i] = _narrow(mixed[i] / total, out[row, head * width + i])


@_fast
def gated(both, out):
    """out = silu(gate) * up, where gate and up lie side by side in `both`, [m, 2 width]; out [m, width]."""
    m, width = out.shape
    for row in range(m):
        for i in range(width):
            gate, up = _wide(both[row, i]), _wide(both[row, width + i])
            part = _exp(-abs(gate))
            share = max(part, np.float32(gate > 0)) / (np.float32(1) + part)
            out[row, i] = _narrow(gate * share * up, out[row, i])
