"""The key-value cache of a token tree: slots 0, 1, 2, ... that are written where we say.

Slots hold keys and values in the order in which tokens were read. The text fills the first; a tree's nodes follow in
whatever order they were read, and after a commit only the accepted ones move up to the text. A layer sees a view of
the slots in use, so nothing that was read is ever copied for a pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers.cache_utils import Cache

from .device_logits import push

CHUNK = 256  # slots by which memory grows


class TreeCache(Cache):
    """Keys and values of one text and the tree tried after it.

    Args:
        layers: how many attention layers the model has.
        spread: whether they compute on several devices; then each has memory of its own, where it computes.

    Attributes:
        used: slots in use; a pass writes behind them.
        writer: the draft that wrote there last, where drafts share the target's cache.
        blocks: memory of all layers, or of each, [2 * layers in it, 1, heads, slots, width]; keys are even.
    """

    def __init__(self, layers: int, spread: bool = False) -> None:
        super().__init__(layers=[])
        self.depth, self.spread = layers, spread
        self.used = 0
        self.writer: object = None
        self.blocks: list[torch.Tensor | None] = [None] * (layers if spread else 1)

    def __len__(self) -> int:
        return self.depth

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's new keys and values, [1, heads, new, width], and return all in use, as views."""
        if key_states.shape != value_states.shape:
            raise ValueError("keys and values must have the same shape; this model's differ. Choose another model.")
        number, layer = (layer_idx, 0) if self.spread else (0, layer_idx)
        end = self.used + key_states.shape[2]
        both = self._reserve(number, key_states, end)[2 * layer : 2 * layer + 2, :, :, :end]
        for place, new in zip(both, (key_states, value_states), strict=True):
            place[:, :, self.used :] = new
        return both[0], both[1]

    def numbers(self, slots: int, heads: int, width: int) -> np.ndarray:
        """All layers in float32 as numpy sees them, [2 * layers, heads, at least `slots`, width]."""
        return self._reserve(0, torch.empty(1, heads, 1, width), slots).numpy()[:, 0]

    def _reserve(self, number: int, keys: torch.Tensor, slots: int) -> torch.Tensor:
        """The block of that number, with at least so many slots, for keys of the given shape, type and device."""
        block = self.blocks[number]
        if block is not None and slots <= block.shape[3]:
            return block
        rows, heads, _, width = keys.shape
        layers = 1 if self.spread else self.depth
        # Zeros, because a masked slot must still be a finite number.
        grown = keys.new_zeros(2 * layers, rows, heads, -(-slots // CHUNK) * CHUNK, width)
        if block is not None:
            grown[:, :, :, : self.used] = block[:, :, :, : self.used]
        self.blocks[number] = grown
        return grown

    @torch.inference_mode()
    def keep(self, slots: Sequence[int], start: int) -> None:
        """Move `slots` to `start`, `start` + 1, ... in all layers; everything behind them is free again."""
        self.used = start + len(slots)
        moved = next((i for i, slot in enumerate(slots) if slot != start + i), len(slots))
        for block in self.blocks if moved < len(slots) else ():
            if block is not None:
                places = push(np.array(slots[moved:]), block.device)
                block[:, :, :, start + moved : self.used] = block.index_select(3, places)

    # What transformers asks of a cache when it makes a causal mask itself.

    def get_seq_length(self, layer_idx: int = 0) -> int:
        """How many tokens it holds."""
        return self.used

    def get_mask_sizes(self, query_length: int, layer_idx: int = 0) -> tuple[int, int]:
        """How many keys a pass over so many tokens sees, and the first of them."""
        return self.used + query_length, 0

    def get_max_length(self, layer_idx: int | None = None) -> int:
        """No limit of its own."""
        return -1

    @property
    def is_sliding(self) -> list[bool]:
        """Whether each layer forgets what is far back: none does."""
        return [False] * self.depth
