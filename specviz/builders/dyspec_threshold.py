"""DySpec's tree level by level: every slot whose key is above a threshold is filled (Xiong et al. 2024, algorithm 2).

Unlike the greedy heap it needs one batched draft pass per level, and the threshold, about one over the number of nodes
wanted, takes the place of the budget. Where a level would overflow the budget, slots are cut by their keys before their
tokens are drawn: dropping drawn tokens that turned out unlikely would bend the law.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heappush, nsmallest
from typing import ClassVar

from ..laws import Siblings
from ..parameters import check, real, whole
from ..protocols import TreeBuilder

WAITING = 3  # how many of the waiting slots are recorded at each choice


@dataclass(frozen=True)
class DySpecThreshold(TreeBuilder):
    """All slots with a key above `threshold`, the best ones first where there are too many."""

    name: ClassVar[str] = "dyspec-threshold"
    title: ClassVar[str] = "DySpec by threshold"
    key_title: ClassVar[str] = "chance to be reached"
    laws: ClassVar[tuple[str, ...]] = ("distinct", "top", "race")
    in_support: ClassVar[bool] = True
    threshold: float = real(0.2, 0.0001, 0.999, "Threshold", "Fill every slot that is reached with a larger chance.")
    size: int = whole(32, 1, 1024, "Most nodes", "How many nodes the tree may have, its root included.")
    depth: int = whole(8, 1, 64, "Levels", "How many levels the tree may have below its root.")

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_chain(self) -> bool:
        return self.size <= 2

    def __call__(self, draft, rng, law, room, notes):
        tree, reach, level = draft.tree, [1.0], [0]  # reach: the product of q along the path of each node
        tree.notes["waiting"] = []
        for _ in range(min(self.depth, room - 1)):
            if not level or len(tree) >= self.size:
                break
            rows = zip(level, draft.expand(level), strict=True)
            families = {node: Siblings(q, law, rng, tree.position(node)) for node, q in rows}
            slots = [(-reach[node], node) for node in level]
            heapify(slots)
            level = []
            while slots and len(tree) < self.size:
                minus_key, parent = heappop(slots)
                tree.notes["waiting"].append([[other, -key] for key, other in nsmallest(WAITING, slots)])
                family = families[parent]
                node = tree.add(parent, family.draw(), -minus_key)
                reach.append(reach[parent] * float(family.q[tree.tokens[node]]))
                if reach[parent] * family.left > self.threshold:
                    heappush(slots, (-reach[parent] * family.left, parent))
                if reach[node] > self.threshold:
                    level.append(node)
        return tree
