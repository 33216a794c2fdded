"""Attention over a tree that skips the empty blocks of its mask, with torch's FlexAttention (DySpec, table 5).

What `attention` computes densely. The mask is data of the kernel, so a new tree needs no new compilation, only a new
length does; the order of the nodes decides how many blocks there are to work through (`theory.mask_order` counts them).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import torch
from torch.nn.attention.flex_attention import BlockMask, create_block_mask, flex_attention

from ..tree import Topology
from . import attention
from .device_logits import wait
from .graphs import cuda_graphs

KERNELS = ("skipping", "dense", "by hand")
REPLAYS = 20  # of a kernel on a GPU before one waits for it: a single one is as short as the waiting


def has_gpu() -> bool:
    """Whether the kernel that skips blocks can be compiled here: only on a GPU does it skip them."""
    return torch.cuda.is_available()


def visible(shape: Topology, order: Sequence[int], prefix: int = 0) -> np.ndarray:
    """The attention mask, bool [n, prefix + n]: every node to the whole prefix, its ancestors and itself.

    Args:
        shape: the tree, n nodes.
        order: every node once, in the order of rows and of the columns behind the prefix.
        prefix: tokens before the root, whose columns come first.
    """
    nodes = list(order)
    return np.pad(shape.ancestor_mask[np.ix_(nodes, nodes)], ((0, 0), (prefix, 0)), constant_values=True)


def block_mask(seen: np.ndarray, block: int, device: torch.device | str) -> BlockMask:
    """A mask by blocks: which are empty, which are full, and the single pairs of the rest.

    Args:
        seen: the attention mask, bool [n, slots].
        block: rows and columns of a block; a power of two from 16, as a GPU multiplies matrices.
        device: where it is used.

    Raises:
        ValueError: if `block` is none of these.
    """
    if type(block) is not int or block < 16 or block & (block - 1):
        raise ValueError(f"block must be a power of two from 16; got {block!r}. DySpec uses 32.")
    pairs = torch.from_numpy(seen).to(device)

    def sees(batch: torch.Tensor, head: torch.Tensor, row: torch.Tensor, column: torch.Tensor) -> torch.Tensor:
        return pairs[row, column]

    return create_block_mask(sees, None, None, *seen.shape, device=device, BLOCK_SIZE=block)


def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: BlockMask, scale: float) -> torch.Tensor:
    """Scaled dot-product attention under a mask by blocks, [1, heads, n, width].

    On a GPU one compiled kernel that skips empty blocks; elsewhere the same sums without skipping.

    Args:
        q: queries, [1, heads, n, width].
        k, v: keys and values, [1, key heads, slots, width]; the number of key heads divides that of heads.
        mask: of `block_mask`, n rows and `slots` columns.
        scale: factor of the products.
    """
    more: dict[str, Any] = {"scale": scale, "enable_gqa": q.shape[1] != k.shape[1]}
    if q.is_cuda:
        rows, columns = mask.BLOCK_SIZE
        # Fewer than 128 queries would go to another kernel, which splits the keys instead of skipping blocks of rows.
        options = {"BLOCK_M": rows, "BLOCK_N": columns, "FORCE_USE_FLEX_ATTENTION": True}
        return _compiled()(q, k, v, block_mask=mask, kernel_options=options, **more)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*without torch.compile")
        return flex_attention(q, k, v, block_mask=mask, **more)


@lru_cache
def _compiled() -> Callable[..., torch.Tensor]:
    return torch.compile(flex_attention, dynamic=False)


def kernels(
    seen: np.ndarray, block: int, heads: int, width: int, device: str
) -> tuple[dict[str, Callable[[], None]], float]:
    """The same attention under one mask by each of `KERNELS`, over random numbers; half precision on a GPU.

    Args:
        seen: the attention mask, bool [n, slots].
        block: of `block_mask`.
        heads, width: how many heads, and the width of one.
        device: "cuda" or "cpu".

    Returns:
        What runs each and waits for its end (on a GPU a graph, replayed `REPLAYS` times), and by how much the results
        of the others differ from "dense" at most.
    """
    n, slots = seen.shape
    gpu = device == "cuda"
    dtype = torch.float16 if gpu else torch.float32
    chance = torch.Generator(device).manual_seed(0)
    q, k, v = (
        torch.randn((1, heads, length, width), generator=chance, device=device, dtype=dtype)
        for length in (n, slots, slots)
    )
    scale, mask = width**-0.5, block_mask(seen, block, device)
    hidden = ~torch.from_numpy(seen).to(device)
    added = torch.zeros(seen.shape, device=device, dtype=dtype).masked_fill_(hidden, -torch.inf)[None, None]
    ways: tuple[Callable[[], torch.Tensor], ...] = (
        lambda: attend(q, k, v, mask, scale),
        lambda: attention.attend(q, k, v, added, False, scale),
        lambda: (q @ k.transpose(2, 3) * scale + added).softmax(dim=3) @ v,
    )
    with torch.inference_mode():
        results = [way() for way in ways]
        off = max(float((result - results[1]).abs().max()) for result in results)
        if gpu:
            capture = cuda_graphs(torch.device(device))
            ways = tuple(map(capture, ways))
    return {name: _awaited(way, REPLAYS if gpu else 1) for name, way in zip(KERNELS, ways, strict=True)}, off


def _awaited(run: Callable[[], torch.Tensor], times: int) -> Callable[[], None]:
    def ready() -> None:
        with torch.inference_mode():
            for _ in range(times):
                result = run()
            wait(result)

    return ready
