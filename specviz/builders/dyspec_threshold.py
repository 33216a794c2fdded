"""DySpec's tree level by level: every slot whose key is above a threshold is filled (Xiong et al. 2024, algorithm 2).

Unlike the greedy heap it needs one batched draft pass per level, and a threshold takes the place of the budget. The
source takes about one over the number of nodes wanted, finds that the right one varies over time, and leaves a way to
adjust it open (section 4.4, appendix B.1). Here "auto" begins at 1 / size, and a controller moves its logarithm by the
sizes of past trees: it is fixed before the step draws anything. Where a level would overflow the budget, slots are cut
by their keys before their tokens are drawn: dropping drawn tokens because they are unlikely would change the
distribution.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush, nsmallest
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from ..sampling import ChildSampler
from .base import TreeBuilder

WAITING = 3  # how many of the waiting slots are recorded at each choice
LOW, HIGH = 1e-5, 0.999  # of a threshold
GAIN = 0.5  # how much of a tree's lack of nodes, as a ratio, the next threshold makes up for
RISE = 1.25  # by how much the threshold rises after a tree that was cut


class DySpecThreshold(TreeBuilder):
    """All slots with a key above `threshold`, the best ones first where there are too many."""

    name: ClassVar[str] = "dyspec-threshold"
    title: ClassVar[str] = "DySpec by threshold"
    key_title: ClassVar[str] = "probability to be reached"
    schemes: ClassVar[tuple[str, ...]] = ("distinct", "top", "race")
    in_support: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2, "threshold": 0.2}
    threshold: Literal["auto"] | Annotated[float, Field(ge=LOW, le=HIGH)] = Field(
        "auto",
        title="Threshold",
        description="Fill every slot with a higher probability to be reached: auto (about 1 / tree size, adapted to "
        "the sizes of past trees), or a number.",
    )
    size: int = Field(
        32, ge=1, le=1024, title="Tree size (nodes)", description="Maximum number of nodes, including the root."
    )
    depth: int = Field(8, ge=1, le=64, title="Max depth", description="Maximum number of levels below the root.")
    reorder: bool = Field(
        True,
        title="Heavy paths first",
        description="Order of the nodes in the target's pass: longest paths first, or as drawn.",
    )

    def start(self):
        return max(LOW, min(0.5, 1 / self.size)) if self.threshold == "auto" else None

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, reach, level = draft.tree, [1.0], [0]  # reach: the product of q along the path of each node
        threshold = self.threshold if state is None else state
        waiting = []
        for _ in range(min(self.depth, tokens_left - 1)):
            if not level or len(tree) >= self.size:
                break
            rows = zip(level, draft.expand(level), strict=True)
            families = {node: ChildSampler(q, scheme, rng, tree.position(node)) for node, q in rows}
            slots = [(-reach[node], node) for node in level]
            heapify(slots)
            level = []
            while slots and len(tree) < self.size:
                minus_key, parent = heappop(slots)
                family = families[parent]
                if family.left == 0:  # the drafter has nothing to say
                    continue
                waiting.append(tuple((other, -key) for key, other in nsmallest(WAITING, slots)))
                node = tree.add(parent, family.draw(), -minus_key)
                reach.append(reach[parent] * float(family.q[tree.tokens[node]]))
                if reach[parent] * family.left > threshold:
                    heappush(slots, (-reach[parent] * family.left, parent))
                if reach[node] > threshold:
                    level.append(node)
        tree.grew(waiting=tuple(waiting), threshold=threshold)
        tree.order = tree.topology.heavy_path if self.reorder else None
        return tree

    def learn(self, state, tree, verdict, rows=None):
        if state is None or len(tree) == 1:  # a number was given, or the text had no room for a tree
            return state
        change = RISE if len(tree) >= self.size else ((len(tree) - 1) / max(1, self.size - 1)) ** GAIN
        return max(LOW, min(0.5, state * change))
