"""DySpec's greedy tree: always add the node that is most likely to be reached according to the draft (algorithm 1).

Unlike Sequoia's tree its shape depends on the draft's distributions in the current step. A slot is a place where a
token could be drawn; its key is the draft's probability that a verifier gets there: the product of q along the path,
times the draft's mass that the siblings before it left over. The best slot is taken off the heap *before* its token is
known, and both slots it opens, next sibling and first child, have smaller keys, so the keys fall from node to node
(Xiong et al. 2024, equations 8 to 11). Within this order the draft reads a node only once its first child is due. The
target is fed the nodes along heavy paths (appendix C), which keeps an accepted path in neighbouring slots and the
mask's blocks few.
"""

from __future__ import annotations

from heapq import heappop, heappush, nsmallest
from typing import Any, ClassVar

from pydantic import Field

from ..sampling import ChildSampler
from .base import TreeBuilder

WAITING = 3  # how many of the waiting slots are recorded at each choice


class DySpec(TreeBuilder):
    """The `size` - 1 slots of largest key, one after the other."""

    name: ClassVar[str] = "dyspec"
    title: ClassVar[str] = "DySpec"
    key_title: ClassVar[str] = "probability to be reached"
    schemes: ClassVar[tuple[str, ...]] = ("distinct", "top", "race")
    in_support: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2}
    size: int = Field(16, ge=1, le=1024, title="Tree size (nodes)", description="Number of nodes, including the root.")
    depth: int = Field(16, ge=1, le=64, title="Max depth", description="Maximum number of levels below the root.")
    batch: int = Field(
        8,
        ge=1,
        le=64,
        title="Nodes per draft pass",
        description="Number of nodes that the draft reads at once: the required one and the most likely next ones.",
    )
    reorder: bool = Field(
        True,
        title="Heavy paths first",
        description="Order of the nodes in the target's pass: longest paths first, or as drawn.",
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, families, reach = draft.tree, {}, [1.0]  # reach: the product of q along the path of each node
        deepest = min(self.depth, tokens_left - 1)
        slots = [(-1.0, 0)] if deepest else []  # (minus key, parent): at most one slot a parent at any time
        waiting = []
        while slots and len(tree) < self.size:
            minus_key, parent = heappop(slots)
            if parent not in families:
                unread = [other for _, other in nsmallest(self._spare(tree), slots) if other not in families]
                nodes = [parent, *unread[: self.batch - 1]]
                for node, q in zip(nodes, draft.expand(nodes), strict=True):
                    families[node] = ChildSampler(q, scheme, rng, tree.position(node))
            family = families[parent]
            if family.left == 0:  # the drafter has nothing to say
                continue
            waiting.append(tuple((other, -key) for key, other in nsmallest(WAITING, slots)))
            node = tree.add(parent, family.draw(), -minus_key)
            reach.append(reach[parent] * float(family.q[tree.tokens[node]]))
            if family.left > 0:
                heappush(slots, (-reach[parent] * family.left, parent))
            if tree.depths[node] < deepest:
                heappush(slots, (-reach[node], node))
        tree.grew(waiting=tuple(waiting))
        tree.order = tree.topology.heavy_path if self.reorder else None
        return tree

    def _spare(self, tree) -> int:
        """How many further slots could still be taken: the draft need not look beyond them."""
        return self.size - len(tree) - 1
