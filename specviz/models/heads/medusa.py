"""Medusa's heads: from the target's last hidden state to logits of tokens ahead (Cai et al. 2024,
section 2.1.1).

Head i is a residual block before the target's output head: g_i = f + SiLU(W_i f). Training begins
with W_i = 0.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

from ...passes.huggingface import HuggingFaceModel
from ...sampling.distributions import Logits
from .folder import load_drafter


class MedusaHeads(nn.Module):
    """The residual blocks of all heads, of the sizes "heads" and "width"."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.sizes = {"heads": heads, "width": width}
        self.weight = nn.Parameter(torch.zeros(heads, width, width))

    def forward(self, features: Tensor) -> Tensor:
        """g of every head, [heads, n, width], from features [n, width]."""
        # One product of all heads: a batch of them takes ten times as long in bfloat16 on a CPU.
        gates = functional.linear(features, self.weight.flatten(0, 1)).unflatten(
            1, self.weight.shape[:2]
        )
        return features + functional.silu(gates.transpose(0, 1))


def load_heads(folder: Path, target: HuggingFaceModel, heads: int) -> Callable[[Tensor], Logits]:
    """The first `heads` of a folder: a function of one feature, [width], that returns logits,
    [heads, V]."""
    model = load_drafter("medusa", folder, target, lambda sizes: MedusaHeads(**sizes))
    model.weight = nn.Parameter(model.weight[:heads])
    model = model.to(target.device, target.dtype).eval()

    def logits(feature: Tensor) -> Logits:
        # Features may hold other layers before the last state, for a head that reads them.
        last_state = feature[-model.weight.shape[2] :]
        with torch.inference_mode():
            states = model(last_state[None])[:, 0]
        return target.logits_of(states)

    return logits
