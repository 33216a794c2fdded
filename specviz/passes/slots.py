"""The slots of a tree in the cache, and what a pass over some of its nodes reads and sees."""

from __future__ import annotations

import numpy as np
import torch

from ..tree import TokenTree
from .device_logits import push


class Slots(dict[int, int]):
    """The slot of each node that was read of a tree, counted from the root's."""

    def __init__(self) -> None:
        super().__init__()
        self._sees = np.zeros((64, 64), dtype=bool)  # [slot, slot]: its row may attend to its column

    def unread(self, tree: TokenTree, nodes: list[int]) -> list[int]:
        """The nodes that a pass must read, in the tree's order: those asked for and their unread ancestors."""
        need = set(nodes)
        for node in nodes:
            node = tree.parents[node]
            while node >= 0 and node not in self and node not in need:
                need.add(node)
                node = tree.parents[node]
        return sorted(need) if tree.order is None else [node for node in tree.order if node in need]

    def place(self, tree: TokenTree, nodes: list[int], run: int, first: bool) -> tuple[list[int], np.ndarray | None]:
        """Give nodes and their unread ancestors the next slots.

        Args:
            tree, nodes: those that are asked for.
            run: how many committed tokens are read before them in the same pass.
            first: whether the cache is empty.

        Returns:
            The nodes that the pass reads, in the order of their slots, and which of the last slots each of its tokens
            must not see, bool [run + nodes, run + slots of the tree]; None where plain causal reading does the same.
        """
        order, begin = self.unread(tree, nodes), len(self)
        end = begin + len(order)
        if end > len(self._sees):
            self._sees = np.pad(self._sees, (0, end))
        sees = self._sees
        sees[begin:end] = False  # what an earlier tree left there
        for slot, node in enumerate(order, begin):
            if node:
                sees[slot] = sees[self[tree.parents[node]]]
            sees[slot, slot] = True
            self[node] = slot
        sees = sees[begin:end, :end]
        if first and np.array_equal(sees, np.tri(end, dtype=bool)):
            return order, None
        masked = np.zeros((run + len(order), run + end), dtype=bool)
        masked[:run] = ~np.tri(run, run + end, dtype=bool)
        np.logical_not(sees, out=masked[run:, run:])
        return order, masked if masked.any() else None


def additive_mask(masked: np.ndarray, slots: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
    """What is added to the products of queries and keys, [1, 1, m, slots].

    Args:
        masked: which of the last slots each token of a pass must not see, bool [m, w]; it sees all before them.
        slots: in use, those of the pass included.
        dtype, device: of the result.
    """
    tail = torch.zeros(masked.shape, dtype=dtype, device=device)
    tail.masked_fill_(push(masked, device), torch.finfo(dtype).min)
    return torch.constant_pad_nd(tail, (slots - masked.shape[1], 0), 0.0)[None, None]
