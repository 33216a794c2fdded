"""The key-value cache of a token tree: one block of memory for all layers, written where we say.

Slots 0, 1, 2, ... hold keys and values in the order in which tokens were read. The text fills the first slots; a
tree's nodes follow in whatever order they were read, and after a commit only the accepted ones move up to the text.
A layer sees a view of the slots in use, so nothing that was read is ever copied for a pass.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from transformers.cache_utils import Cache

from .device_logits import push

CHUNK = 256  # slots by which the block grows


class TreeCache(Cache):
    """Keys and values of one text and the tree tried after it.

    Args:
        layers: how many attention layers the model has.

    Attributes:
        used: slots in use; a pass writes behind them.
        writer: the draft that wrote there last, where drafts share the target's cache.
    """

    def __init__(self, layers: int) -> None:
        super().__init__(layers=[])
        self.depth = layers
        self.used = 0
        self.writer: object = None
        self._block: torch.Tensor | None = None  # [2 * layers, rows, heads, slots, width]; keys are even
        self._seen: tuple[torch.Tensor, np.ndarray] | None = None  # the block, and its numbers
        self._views: tuple = (None, ())  # of a block and a span of slots: those in use, and those that are written

    def __len__(self) -> int:
        return self.depth

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write one layer's new keys and values, [1, heads, new, width], and return all in use, as views."""
        end = self.used + key_states.shape[2]
        block = self._block
        if block is None or end > block.shape[3]:
            block = self._grow(key_states, value_states, end)
        of, span, *views = self._views
        if of is not block or span != (self.used, end):  # once a pass, for all layers
            views = [block.narrow(3, 0, end).unbind(), block.narrow(3, self.used, end - self.used).unbind()]
            self._views = (block, (self.used, end), *views)
        in_use, new = views
        new[2 * layer_idx].copy_(key_states)
        new[2 * layer_idx + 1].copy_(value_states)
        return in_use[2 * layer_idx], in_use[2 * layer_idx + 1]

    def numbers(self, slots: int, heads: int, width: int) -> np.ndarray:
        """The block of one text in float32 as numpy sees it, [2 * layers, heads, slots, width], of at least `slots`."""
        block = self._block
        if block is None or slots > block.shape[3]:
            keys = torch.empty(1, heads, 1, width)
            block = self._grow(keys, keys, slots)
        if self._seen is None or self._seen[0] is not block:
            self._seen = (block, block.numpy()[:, 0])
        return self._seen[1]

    def _grow(self, keys: torch.Tensor, values: torch.Tensor, slots: int) -> torch.Tensor:
        if keys.shape != values.shape:
            raise ValueError("keys and values must have the same shape; this model's differ. Choose another model.")
        rows, heads, _, width = keys.shape
        # Zeros, because a masked slot must still be a finite number.
        block = keys.new_zeros(2 * self.depth, rows, heads, -(-slots // CHUNK) * CHUNK, width)
        if self._block is not None:
            block[:, :, :, : self.used] = self._block[:, :, :, : self.used]
        self._block = block
        return block

    def keep(self, slots: Sequence[int], start: int) -> None:
        """Move `slots` to `start`, `start` + 1, ... in all layers; everything behind them is free again."""
        self.used = start + len(slots)
        moved = next((i for i, slot in enumerate(slots) if slot != start + i), len(slots))
        if moved == len(slots):
            return
        block = self._block
        assert block is not None  # or there are no slots to move
        if self._seen is not None and self._seen[0] is block:
            numbers = self._seen[1]
            numbers[:, :, start + moved : self.used] = numbers[:, :, list(slots[moved:])]
            return
        with torch.inference_mode():
            index = push(np.array(slots[moved:]), block.device)
            block[:, :, :, start + moved : self.used] = block.index_select(3, index)

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
