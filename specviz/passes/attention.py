"""Attention under a tree mask, by the way that is fastest for the device and the number of queries."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.nn.functional import scaled_dot_product_attention

FEW = 32  # queries up to which two products are faster on a CPU than the fused kernel, which is made for long runs


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, causal: bool, scale: float
) -> torch.Tensor:
    """Scaled dot-product attention, [1, heads, m, width].

    Args:
        q: queries, [1, heads, m, width].
        k, v: keys and values, [1, key heads, slots, width]; the number of key heads divides that of heads.
        mask: additive, [1, 1, m, slots]; None for none.
        causal: whether each query sees only the slots up to its own; without a mask.
        scale: factor of the products.
    """
    shared = q.shape[1] != k.shape[1]
    if q.is_cpu and q.shape[2] <= FEW and not causal:
        return in_line(q, k, v, mask, scale, by_products)
    if q.is_cuda and mask is not None and shared:  # its fused kernels want as many heads on both sides
        return in_line(q, k, v, mask, scale, scaled_dot_product_attention)
    return scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=shared)


def in_line(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, scale: float,
    attention: Callable[..., torch.Tensor],
) -> torch.Tensor:  # fmt: skip
    """The same where query heads that share a key head are further queries of it: no key or value is copied."""
    group = q.shape[1] // k.shape[1]
    mask = mask if mask is None or group == 1 else mask.repeat(1, 1, group, 1)
    return attention(q.reshape(1, k.shape[1], -1, q.shape[3]), k, v, mask, scale=scale).reshape(q.shape)


def by_products(q, k, v, mask, scale: float) -> torch.Tensor:
    """The same as a product, a softmax and a product, with as many heads on both sides."""
    if mask is None:
        scores = torch.bmm(q[0], k[0].transpose(1, 2)).mul_(scale)
    else:
        scores = torch.baddbmm(mask[0], q[0], k[0].transpose(1, 2), alpha=scale)
    return torch.bmm(torch.softmax(scores, -1), v[0])
