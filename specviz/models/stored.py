"""What is computed with a model's weights once on a machine, and then found in the cache."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import numpy as np
import torch
import transformers
from safetensors.numpy import load, save

from ..base.files import from_cache, to_cache
from ..passes.huggingface import HuggingFaceModel

Arrays = dict[str, np.ndarray]


def computed_once(
    model: HuggingFaceModel, what: tuple[object, ...], compute: Callable[[], Arrays]
) -> Arrays:
    """The arrays that `compute` returns, from the cache where they were computed before.

    Args:
        model: whose weights it computes with; where their hash is not known nothing is stored.
        what: all else that the result depends on, told apart by its `repr`.
        compute: makes the arrays, by name.
    """
    if not model.weights_hash:
        return compute()
    versions = torch.__version__, transformers.__version__
    facts = model.weights_hash, model.model.config, model.dtype, model.device, versions, what
    name = f"computed-{sha256(repr(facts).encode()).hexdigest()[:32]}.safetensors"
    arrays: Arrays | None = from_cache(name, lambda file: load(file.read_bytes()))
    if arrays is None:
        arrays = compute()
        to_cache(name, save(arrays))
    return arrays
