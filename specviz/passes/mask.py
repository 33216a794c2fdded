"""The attention mask of a pass, kept without the text, which every token of it sees."""

from __future__ import annotations

import numpy as np
import torch

from .device_logits import push


class Mask:
    """Which of the last slots each token of a pass must not see; it sees all slots before them.

    Args:
        hidden: bool [m, w], for m tokens and the last w slots, those of the pass included.

    >>> Mask(np.array([[False, True], [False, False]])).whole(3).tolist()
    [[False, False, True], [False, False, False]]
    """

    def __init__(self, hidden: np.ndarray) -> None:
        self.hidden = hidden
        self._added: torch.Tensor | None = None  # [1, 1, m, w]: the same mask may serve many passes

    def whole(self, slots: int) -> np.ndarray:
        """The mask over all slots in use, bool [m, slots]."""
        return np.pad(self.hidden, ((0, 0), (slots - self.hidden.shape[1], 0)))

    def added(self, slots: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """What is added to the products of queries and keys, [1, 1, m, slots]."""
        tail = self._added
        if tail is None or tail.dtype != dtype:
            tail = torch.zeros((1, 1, *self.hidden.shape), dtype=dtype, device=device)
            self._added = tail.masked_fill_(push(self.hidden, device), torch.finfo(dtype).min)
        return torch.constant_pad_nd(tail, (slots - tail.shape[3], 0), 0.0)
