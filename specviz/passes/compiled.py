"""What stands between the matrix products of a small pass on a CPU, compiled by numba (`pip install specviz[fast]`).

A level of a small draft takes some thirty calls of torch besides its products, and most of its time. Here each stretch
between two products is one call: a norm; rotary embeddings, the write to the cache and attention under the tree mask;
the gated unit. Sums are float32 whatever the type of the weights. Without numba, and for long passes, torch does it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from .attention import by_products
from .cache import TreeCache

if TYPE_CHECKING:
    from .direct import DirectForward, Norm
try:
    from numba import njit, types
    from numba.extending import overload
except ImportError:  # an extra
    njit = None

MOST = 32  # tokens of a pass up to which it is compiled
WORK = 1 << 19  # products of queries and keys up to which one thread is faster than torch's bmm
FAST = {"reassoc", "contract", "arcp", "nsz"}  # not "ninf": a mask may be -inf
NO_MASK = np.empty((0, 0), np.float32)
AVAILABLE = njit is not None


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a contiguous tensor on a CPU as numpy and numba see them: bfloat16 as the int16 of its bits."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def takes(m: int, mask: Any, cache: Any) -> bool:
    """Whether a pass over m tokens is one of these: small, with one text's tree or a single token."""
    return m <= MOST and type(cache) is TreeCache and (isinstance(mask, torch.Tensor) or (m == 1 and mask is None))


def states(
    direct: DirectForward, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None, cache: TreeCache,
    rows: torch.Tensor | None,
) -> torch.Tensor:  # fmt: skip
    """What `DirectForward.states` returns, for the same arguments."""
    m, heads, width, used = len(ids), direct.heads, direct.width, cache.used
    x = ids if ids.is_floating_point() else direct.embed.index_select(0, ids)
    table, where = direct.rotary.numpy()[:, :, 0], positions.numpy()
    q = torch.empty(1, heads, m, width)
    block = cache.block(used + m, q[:, : direct.kv_heads])[:, 0]
    numbers = block.numpy()
    added = NO_MASK if mask is None else mask.numpy()[0, 0]
    alone = heads * m * (used + m) * width <= WORK
    for index, layer in enumerate(direct.layers):
        qkv = layer.qkv(_normed(x, layer.before)).view(m, -1, width)
        turn(raw(qkv), table, where, numbers[2 * index], numbers[2 * index + 1], used, q.numpy()[0])
        mixed = x.new_empty(m, heads * width)
        if alone:
            attend(q.numpy()[0], numbers[2 * index], numbers[2 * index + 1], used + m, added, layer.scale, raw(mixed))
        else:
            keys, values = block[2 * index : 2 * index + 2, None, :, : used + m].unbind()
            mixed.view(m, heads, width).copy_(by_products(q, keys, values, mask, layer.scale)[0].transpose(0, 1))
        x = layer.out(mixed, x)
        both = layer.gate_up(_normed(x, layer.after))
        hidden = x.new_empty(m, both.shape[1] // 2)
        gated(raw(both), raw(hidden))
        x = layer.down(hidden, x)
    return _normed(x if rows is None else x.index_select(0, rows), direct.norm)


def _normed(x: torch.Tensor, by: Norm) -> torch.Tensor:
    out = torch.empty_like(x)
    norm(raw(x), raw(by.weight), by.eps, raw(out))
    return out


def _wide(number):
    """A number as float32."""


def _narrow(number, like):
    """A float32 as the type of `like`, rounded to the nearest, ties to even."""


if njit is not None:

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

    compiled = njit(fastmath=FAST, error_model="numpy", cache=True)
    exactly = njit(fastmath={"contract"}, error_model="numpy", cache=True)
else:
    compiled = exactly = lambda function: function


@exactly
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


@compiled
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


@compiled
def turn(qkv, table, positions, keys, values, used, q):
    """Rotary embeddings of queries and keys, and the write of keys and values to the slots from `used` on.

    qkv [m, heads + 2 key heads, width]; table [positions, 2, width]; keys, values [key heads, slots, width];
    q [heads, m, width].
    """
    m, _, width = qkv.shape
    heads, kv_heads, half = len(q), len(keys), q.shape[2] // 2
    for row in range(m):
        cos, sin = table[positions[row], 0], table[positions[row], 1]
        for head in range(heads + kv_heads):
            to = q[head, row] if head < heads else keys[head - heads, used + row]
            given = qkv[row, head]
            for i in range(half):
                low, high = _wide(given[i]), _wide(given[i + half])
                to[i] = low * cos[i] + high * sin[i]
                to[i + half] = high * cos[i + half] + low * sin[i + half]
        for head in range(kv_heads):
            for i in range(width):
                values[head, used + row, i] = _wide(qkv[row, heads + kv_heads + head, i])


@compiled
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


@compiled
def gated(both, out):
    """out = silu(gate) * up, where gate and up lie side by side in `both`, [m, 2 width]; out [m, width]."""
    m, width = out.shape
    for row in range(m):
        for i in range(width):
            gate, up = _wide(both[row, i]), _wide(both[row, width + i])
            part = _exp(-abs(gate))
            share = max(part, np.float32(gate > 0)) / (np.float32(1) + part)
            out[row, i] = _narrow(gate * share * up, out[row, i])
