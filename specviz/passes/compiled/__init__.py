"""Small passes of Llama-like models on a CPU in calls that numba compiles: eight times as fast as
transformers' own.

This is the only door to the folder, and the one place that decides between these passes and
torch's. Where numba is missing, torch serves. To do without the folder, delete it together with its
tests and let `compiler_for` return None: the logits stay the same up to rounding, and a step of the
embedded pair takes about three times as long.
"""

from __future__ import annotations

from typing import Any

import torch

LARGEST = 1 << 29  # bytes of a model's weights, which are held twice
TYPES = (torch.bfloat16, torch.float32)  # of weights


def compiler_for(model: torch.nn.Module) -> Any:
    """The module `passes`, where numba is there and a model is worth it, else None.

    It computes on a CPU, in a type that these passes know, and is small enough to be held twice.
    """
    weights = list(model.parameters())
    on_cpu = all(weight.device.type in ("cpu", "meta") for weight in weights)
    alike = len({weight.dtype for weight in weights}) == 1 and weights[0].dtype in TYPES
    even = all(weight.shape[1] % 2 == 0 for weight in weights if weight.ndim == 2)
    if not (on_cpu and alike and even and sum(weight.nbytes for weight in weights) <= LARGEST):
        return None
    try:
        from . import passes
    except ImportError:
        return None
    return passes
