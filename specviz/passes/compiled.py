"""Small passes on a CPU, in which all that stands between two matrix products is one compiled call.

A level of a small draft takes some thirty calls of torch besides its products, which take more time than these. Here
they are a norm; rotary embeddings with the write to the cache; attention under the tree mask; the gated unit. Long
passes, other types and machines without numba take torch's way (`direct.py`), which the self-test compares with this.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from .attention import by_products
from .cache import TreeCache

try:
    from . import kernels
except ImportError:  # numba is not installed, or not for this machine
    kernels = None  # type: ignore[assignment]

MOST = 32  # tokens of a pass up to which it is compiled
WORK = 1 << 19  # products of queries and keys up to which one thread is faster than torch's bmm
NO_MASK = np.empty((0, 0), np.float32)
AVAILABLE = kernels is not None
TYPES = (torch.bfloat16, torch.float32)  # of weights


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a contiguous tensor on a CPU as numpy and numba see them: bfloat16 as the int16 of its bits."""
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def takes(m: int, mask: Any, cache: Any) -> bool:
    """Whether a pass over m tokens is one of these: small, with one text's tree or a single token."""
    return m <= MOST and type(cache) is TreeCache and (isinstance(mask, torch.Tensor) or (m == 1 and mask is None))


class Scratch:
    """Where the passes of one text over m tokens put what they compute between products: tensors, and their numbers.

    Args:
        m: how many tokens.
        direct: the `DirectForward` whose passes they are.
    """

    def __init__(self, m: int, direct: Any) -> None:
        embed, heads, width = direct.embed, direct.heads, direct.width
        self.turned = torch.empty(1, heads, m, width)
        self.normed, self.mixed = embed.new_empty(m, embed.shape[1]), embed.new_empty(m, heads * width)
        self.hidden = embed.new_empty(m, direct.layers[0].down.weight.shape[1])
        each = (self.turned[0], self.normed, self.mixed, self.hidden)
        self.q, self.x, self.mix, self.gate = (raw(tensor.detach()) for tensor in each)

    def norm(self, x: torch.Tensor, by: Any) -> torch.Tensor:
        """The norm of x; stands until the next one."""
        kernels.norm(raw(x), by.numbers, by.eps, self.x)
        return self.normed


def states(
    direct: Any, ids: torch.Tensor, positions: torch.Tensor, mask: torch.Tensor | None, cache: TreeCache,
    rows: torch.Tensor | None,
) -> torch.Tensor:  # fmt: skip
    """What `DirectForward.states` returns, for the same arguments."""
    m, used = len(ids), cache.used
    at = cache.scratch.get(m) or cache.scratch.setdefault(m, Scratch(m, direct))
    x = ids if ids.is_floating_point() else direct.embed.index_select(0, ids)
    block = cache.memory(used + m, at.turned[:, : direct.kv_heads])[:, 0]
    numbers, where, table = block.numpy(), positions.numpy(), direct.rotary[:, :, 0].numpy()
    added = NO_MASK if mask is None else mask.numpy()[0, 0]
    alone = at.q.size * (used + m) <= WORK
    for index, layer in enumerate(direct.layers):
        keys, values = numbers[2 * index], numbers[2 * index + 1]
        qkv = layer.qkv(at.norm(x, layer.before))
        kernels.turn(raw(qkv), table, where, keys, values, used, at.q)
        if alone:
            kernels.attend(at.q, keys, values, used + m, added, layer.scale, at.mix)
        else:
            k, v = block[2 * index : 2 * index + 2, None, :, : used + m].unbind()
            mixed = by_products(at.turned, k, v, mask, layer.scale)
            at.mixed.view(m, direct.heads, -1).copy_(mixed[0].transpose(0, 1))
        x = layer.out(at.mixed, x)
        kernels.gated(raw(layer.gate_up(at.norm(x, layer.after))), at.gate)
        x = layer.down(at.hidden, x)
    last = at.norm(x, direct.norm)
    return last.clone() if rows is None else last.index_select(0, rows)
