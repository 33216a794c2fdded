"""Small passes of Llama-like models on a CPU in calls that numba compiles: eight times as fast as transformers' own.

This is the only door to the folder, and the one place that decides between these passes and torch's (`compiled_passes`
and `host_logits`). Where numba is missing, torch and numpy serve. To do without the folder, delete it together with its
tests, and what imports it in `direct.py` and `huggingface.py`: the logits stay the same up to rounding, and a step of
the embedded pair takes about three times as long.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from .passes import CompiledPasses

LARGEST = 1 << 29  # bytes of a model's weights, which are held twice
TYPES = (torch.bfloat16, torch.float32)  # of weights


def worth_compiling(model: torch.nn.Module) -> bool:
    """Whether a model computes on a CPU in a type that these passes know, and is small enough to be held twice."""
    weights = list(model.parameters())
    known = all(weight.device.type in ("cpu", "meta") and weight.dtype in TYPES for weight in weights)
    alike = len({weight.dtype for weight in weights}) == 1
    even = all(weight.shape[1] % 2 == 0 for weight in weights if weight.ndim == 2)
    return known and alike and even and sum(weight.nbytes for weight in weights) <= LARGEST


def compiled_passes(direct: Any) -> CompiledPasses | None:
    """The compiled passes of a model that is worth it; None without numba.

    Args:
        direct: its `DirectForward`, whose weights are laid out.
    """
    try:
        from .passes import CompiledPasses
    except ImportError:
        return None
    return CompiledPasses(direct)


def host_logits(logits: np.ndarray) -> np.ndarray:
    """Logits on the host, float32 [n, V], whose probability distributions are computed by compiled code."""
    try:
        from .softmax import HostLogits
    except ImportError:
        return logits
    return logits.view(HostLogits)
