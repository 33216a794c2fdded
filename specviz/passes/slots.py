"""The slots of a tree in the cache, and the plan of a pass over some of its nodes: what is read, and what sees what.

A plan depends on the shape of the tree and not on its tokens. Where the shape was known before any token was drawn, the
same passes come again at every step, and their plans are kept.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..tree import TokenTree
from .mask import Mask

KEPT, KEPT_RUN = 256, 8  # plans of one model, and of passes that read fewer committed tokens


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
        self._later: list[Plan] = []  # those used again, whose rows of `_sees` nobody has asked for yet
        self._sees = np.zeros((64, 64), dtype=bool)  # [slot, slot]: its row may attend to its column

    def clear(self) -> None:
        """Forget the tree."""
        super().clear()
        self._later.clear()

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
        again = tree.plan is not None and tree.order is None and run < KEPT_RUN and not first
        key = (tree.plan, tuple(self), tuple(nodes), run)
        plan = self.plans.get(key) if again else None
        if plan is None:
            order = self.unread(tree, nodes)
            sees = self._place(tree, order)
            plan = Plan(order, _mask(sees, run, first), sees)
            if again:
                if len(self.plans) >= KEPT:
                    self.plans.clear()
                self.plans[key] = plan
        else:
            self._later.append(plan)
            self.update(zip(plan.order, range(len(self), plan.sees.shape[1]), strict=True))
        return plan

    def _rows(self, first: int, end: int) -> np.ndarray:
        """The rows of some slots, as a view."""
        if end > len(self._sees):
            grown = np.zeros((2 * end, 2 * end), dtype=bool)
            grown[:first, :first] = self._sees[:first, :first]
            self._sees = grown
        return self._sees[first:end]

    def _place(self, tree: TokenTree, order: list[int]) -> np.ndarray:
        """Give the nodes in `order` the next slots; what they see, bool [len(order), slots so far]."""
        for plan in self._later:
            count, end = plan.sees.shape
            rows = self._rows(end - count, end)
            rows[:] = False  # what an earlier tree left there goes
            rows[:, :end] = plan.sees
        self._later.clear()
        first = len(self)
        rows = self._rows(first, first + len(order))
        for slot, node in enumerate(order, first):
            rows[slot - first] = self._sees[self[tree.parents[node]]] if node else False
            rows[slot - first, slot] = True
            self[node] = slot
        return rows[:, : len(self)].copy()


def _mask(sees: np.ndarray, run: int, first: bool) -> Mask | None:
    """The mask of a pass over `run` committed tokens and then nodes that see those slots of the tree."""
    end = sees.shape[1]
    if first and np.array_equal(sees, np.tri(end, dtype=bool)):
        return None
    hidden = np.zeros((run + len(sees), run + end), dtype=bool)
    hidden[:run] = ~np.tri(run, run + end, dtype=bool)
    np.logical_not(sees, out=hidden[run:, run:])
    return Mask(hidden) if hidden.any() else None
