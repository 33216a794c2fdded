"""The slots of a tree in the cache, and the plan of a pass over some of its nodes: what is read, and what sees what.

A plan depends on the shape of the tree and not on its tokens. Where the shape was known before any token was drawn, the
same passes come again at every step, and their plans are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from ..tree import TokenTree
from .device_logits import push

MAX_PLANS, MAX_RUN = 256, 8  # plans of one model, and committed tokens of a pass whose plan is kept


class Mask:
    """Which of the last slots each token of a pass must not see; it sees all slots before them.

    Args:
        masked: bool [m, w], for m tokens and the last w slots, those of the pass included.

    >>> Mask(np.array([[False, True], [False, False]])).whole(3).tolist()
    [[False, False, True], [False, False, False]]
    """

    def __init__(self, masked: np.ndarray) -> None:
        self.masked = masked
        self._added: torch.Tensor | None = None  # [1, 1, m, w]: the same mask may serve many passes

    def whole(self, slots: int) -> np.ndarray:
        """The mask over all slots in use, bool [m, slots]."""
        return np.pad(self.masked, ((0, 0), (slots - self.masked.shape[1], 0)))

    def added(self, slots: int, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        """What is added to the products of queries and keys, [1, 1, m, slots]."""
        tail = self._added
        if tail is None or tail.dtype != dtype:
            tail = torch.zeros((1, 1, *self.masked.shape), dtype=dtype, device=device)
            self._added = tail.masked_fill_(push(self.masked, device), torch.finfo(dtype).min)
        return torch.constant_pad_nd(tail, (slots - tail.shape[3], 0), 0.0)


class Plan(NamedTuple):
    """What a pass over nodes of a tree needs besides tokens and positions.

    Attributes:
        order: the nodes that it reads, in the order of their slots.
        mask: of the pass; None where plain causal reading does the same.
        sees: which slots of the tree each of them may attend to, bool [len(order), slots of the tree so far].
    """

    order: list[int]
    mask: Mask | None
    sees: np.ndarray


class Slots(dict[int, int]):
    """The slot of each node that was read of a tree, counted from the root's.

    Args:
        plans: those kept for the model, which all of its texts share.
    """

    def __init__(self, plans: dict[tuple, Plan]) -> None:
        super().__init__()
        self.plans = plans
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

    def plan(self, tree: TokenTree, nodes: list[int], run: int, first: bool) -> Plan:
        """Give nodes their slots, and plan the pass over them.

        Args:
            tree, nodes: those that are asked for.
            run: how many committed tokens are read before them in the same pass.
            first: whether the cache is empty.
        """
        again = tree.plan is not None and tree.order is None and run < MAX_RUN and not first
        key = (tree.plan, tuple(self), tuple(nodes), run)
        plan = self.plans.get(key) if again else None
        if plan is not None:
            begin, end = len(self), plan.sees.shape[1]
            self._rows(begin, end)[:, :end] = plan.sees
            self.update(zip(plan.order, range(begin, end), strict=True))
            return plan
        order = self.unread(tree, nodes)
        sees = self._place(tree, order)
        plan = Plan(order, _mask(sees, run, first), sees)
        if again:
            if len(self.plans) >= MAX_PLANS:
                self.plans.clear()
            self.plans[key] = plan
        return plan

    def _rows(self, begin: int, end: int) -> np.ndarray:
        """The rows of new slots, as a view; what an earlier tree left there goes."""
        if end > len(self._sees):
            grown = np.zeros((2 * end, 2 * end), dtype=bool)
            grown[:begin, :begin] = self._sees[:begin, :begin]
            self._sees = grown
        self._sees[begin:end] = False
        return self._sees[begin:end]

    def _place(self, tree: TokenTree, order: list[int]) -> np.ndarray:
        """Give the nodes in `order` the next slots; what they see, bool [len(order), slots so far]."""
        begin = len(self)
        rows = self._rows(begin, begin + len(order))
        for slot, node in enumerate(order, begin):
            if node:
                rows[slot - begin] = self._sees[self[tree.parents[node]]]
            rows[slot - begin, slot] = True
            self[node] = slot
        return rows[:, : len(self)].copy()


def _mask(sees: np.ndarray, run: int, first: bool) -> Mask | None:
    """The mask of a pass over `run` committed tokens and then nodes that see those slots of the tree."""
    end = sees.shape[1]
    if first and np.array_equal(sees, np.tri(end, dtype=bool)):
        return None
    masked = np.zeros((run + len(sees), run + end), dtype=bool)
    masked[:run] = ~np.tri(run, run + end, dtype=bool)
    np.logical_not(sees, out=masked[run:, run:])
    return Mask(masked) if masked.any() else None
