"""One pass over several rows at once, each behind a text of its own: what an engine does for many users.

Nothing else in the project reads more than one text in a pass. Here it is transformers' own forward for every number of
rows, so that their times can be compared with each other; the direct pass of the loop is faster than any of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
import torch

from ..tree import Topology
from .cache import TreeCache
from .device_logits import pull
from .threads import Threads, using


class Weights(Protocol):
    """What is needed of a `HuggingFaceModel`."""

    model: torch.nn.Module
    device: torch.device
    threads: Threads

    def new_cache(self) -> TreeCache:
        """An empty cache."""

    def mask(self, hidden: np.ndarray | None) -> torch.Tensor | None:
        """The attention mask that hides the slots in `hidden`; None where nothing is hidden."""


def batched_pass(
    model: Weights, texts: np.ndarray, ids: np.ndarray, shape: Topology | None = None
) -> Callable[[], np.ndarray]:
    """A pass over the last tokens of b rows, whose texts are read here.

    Args:
        model: the weights.
        texts: token ids before the pass, [b, L].
        ids: token ids that the pass reads, [b, m].
        shape: the tree that the m tokens of every row form; None for a causal run.

    Returns:
        What runs the pass, as often as one likes, and returns its logits, float32 [b, m, V'].
    """
    begin, size = texts.shape[1], ids.shape[1]
    cache = model.new_cache()
    texts, ids = (torch.from_numpy(np.asarray(part, dtype=np.int64)).to(model.device) for part in (texts, ids))
    depth = np.arange(size) if shape is None else shape.depth
    hidden = np.zeros((size, begin + size), dtype=bool)
    hidden[:, begin:] = ~(np.tri(size, dtype=bool) if shape is None else shape.ancestor_mask)
    mask, places = model.mask(hidden), torch.from_numpy(begin + depth).to(model.device)

    def read(tokens: torch.Tensor, **more: torch.Tensor) -> torch.Tensor:
        with torch.inference_mode(), using(model.threads.count):
            return model.model(input_ids=tokens, past_key_values=cache, use_cache=True, **more).logits

    read(texts)

    def run() -> np.ndarray:
        cache.used = begin  # what an earlier run wrote behind the texts is written over
        return pull(read(ids, position_ids=places.expand(ids.shape), attention_mask=mask).float())

    return run
