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


class Scratch:
    """Where the passes of one text over m tokens put what they compute between two products: tensors, and their numbers.

    Args:
        m: how many tokens.
        direct: whose passes they are.
    """

    def __init__(self, m: int, direct: DirectForward) -> None:
        embed, heads, width = direct.embed, direct.heads, direct.width
        self.turned = torch.empty(1, heads, m, width)
        self.normed, self.mixed = embed.new_empty(m, embed.shape[1]), embed.new_empty(m, heads * width)
        self.hidden = embed.new_empty(m, direct.layers[0].down.weight.shape[1])
        each = (self.turned[0], self.normed, self.mixed, self.hidden)
        self.q, self.x, self.mix, self.gate = (raw(tensor.detach()) for tensor in each)

    def norm(self, x: torch.Tensor, by: Norm) -> torch.Tensor:
        """The norm of x; stands until the next one."""
        norm(raw(x), by.numbers, by.eps, self.x)
        return self.normed


def states(
    direct: DirectForward, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None, cache: TreeCache,
    rows: torch.Tensor | None,
) -> torch.Tensor:  # fmt: skip
    """What `DirectForward.states` returns, for the same arguments."""
    m, used = len(ids), cache.used
    at = cache.scratch.get(m) or cache.scratch.setdefault(m, Scratch(m, direct))
    x = ids if ids.is_floating_point() else direct.embed.index_select(0, ids)
    block = cache.block(used + m, at.turned[:, : direct.kv_heads])[:, 0]
    numbers, where = block.numpy(), positions.numpy()
    added = NO_MASK if mask is None else mask.numpy()[0, 0]
    alone = at.q.size * (used + m) <= WORK
    for index, layer in enumerate(direct.layers):
        keys, values = numbers[2 * index], numbers[2 * index + 1]
        qkv = layer.qkv(at.norm(x, layer.before))
        turn(raw(qkv), direct.table, where, keys, values, used, at.q)
        if alone:
            attend(at.q, keys, values, used + m, added, layer.scale, at.mix)
        else:
            k, v = block[2 * index : 2 * index + 2, None, :, : used + m].unbind()
            mixed = by_products(at.turned, k, v, mask, layer.scale)
            at.mixed.view(m, direct.heads, -1).copy_(mixed[0].transpose(0, 1))
        x = layer.out(at.mixed, x)
        gated(raw(layer.gate_up(at.norm(x, layer.after))), at.gate)
        x = layer.down(at.hidden, x)
    last = at.norm(x, direct.norm)
    return last.clone() if rows is None else last.index_select(0, rows)


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
