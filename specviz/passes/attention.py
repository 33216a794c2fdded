"""Attention under a tree mask, by the way that is fastest for the device and the number of queries."""

from __future__ import annotations

import torch
import torch.nn.functional as F

FEW = 32  # queries up to which two products are faster on a CPU than the fused kernel, which is made for long runs


def attend(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, causal: bool, scale: float
) -> torch.Tensor:
    """Scaled dot-product attention, [texts, heads, m, width].

    Args:
        q: queries, [1, heads, m, width].
        k, v: keys and values, [1, key heads, slots, width]; the number of key heads divides that of heads.
        mask: additive, [1, 1, m, slots]; None for none.
        causal: whether each query sees only the slots up to its own; without a mask.
        scale: factor of the products.
    """
    if q.is_cuda and mask is not None and q.shape[1] != k.shape[1]:
        return in_line(q, k, v, mask, scale)
    if q.is_cpu and q.shape[2] <= FEW and not causal:
        return by_products(q, k, v, mask, scale)
    shared = q.shape[1] != k.shape[1]
    return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=shared)


def by_products(
    q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None, scale: float
) -> torch.Tensor:
    """The same as a product, a softmax and a product; query heads that share a key head are further queries of it."""
    group = q.shape[1] // k.shape[1]
    lined = q.reshape(k.shape[1], group * q.shape[2], q.shape[3])
    if mask is None:
        scores = torch.bmm(lined, k[0].transpose(1, 2)).mul_(scale)
    else:
        mask = mask[0] if group == 1 else mask[0].repeat(1, group, 1)
        scores = torch.baddbmm(mask, lined, k[0].transpose(1, 2), alpha=scale)
    return torch.bmm(torch.softmax(scores, -1), v[0]).view(q.shape)


def in_line(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor, scale: float) -> torch.Tensor:
    """The same with as many heads on both sides, as a GPU's fused kernels under a mask want them.

    The query heads that share a key head stand in line at it, as further queries of one head; keys and values
    are not copied.
    """
    group = q.shape[1] // k.shape[1]
    lined = q.reshape(len(q), k.shape[1], group * q.shape[2], q.shape[3])
    mixed = F.scaled_dot_product_attention(lined, k, v, attn_mask=mask.repeat(1, 1, group, 1), scale=scale)
    return mixed.reshape(q.shape)
