"""SVIP's entropy test for trees: nodes with low draft entropy get children, others stay leaves.

Unlike `svip` the draft reads a level before it decides, so the row that is tested is the one the children would come
from; the root is always expanded. The test sees a node's row, never its children: the decision whether to draw is made
before anything is drawn. The budget is spent level by level, in order.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

from pydantic import Field

from ..distributions import entropy
from ..sampling import children_of, draw_children
from .base import TreeBuilder


class SvipTree(TreeBuilder):
    """`width` children for every node whose row has low entropy."""

    name: ClassVar[str] = "svip-tree"
    title: ClassVar[str] = "SVIP tree"
    key_title: ClassVar[str] = "draft entropy before it"
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2, "h": 1.0}
    size: int = Field(
        32, ge=1, le=1024, title="Tree size (nodes)", description="Maximum number of nodes, including the root."
    )
    depth: int = Field(6, ge=1, le=64, title="Max depth", description="Maximum number of levels below the root.")
    width: int = Field(2, ge=1, le=32, title="Branching", description="Number of children of an expanded node.")
    h: float = Field(
        1.8,
        ge=0.0,
        le=3.0,
        title="Threshold h",
        description="Expand a node while sqrt(c * entropy in nats) is at most this.",
    )
    c: float = Field(
        1.0, ge=0.01, le=2.0, title="Factor c", description="Factor of the entropy; 1 is the paper's value."
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, level = draft.tree, [0]
        for _ in range(min(self.depth, tokens_left - 1)):
            if not level or len(tree) >= self.size:
                break
            grown = []
            for node, q in zip(level, draft.expand(level), strict=True):
                count = min(self.width, self.size - len(tree))
                if count == 0:
                    break
                uncertainty = math.sqrt(self.c * entropy(draft.plain(node, q)))
                if uncertainty <= self.h or node == 0:
                    tokens = draw_children(q, children_of(q, count, draft.sparse), scheme, rng, tree.position(node))
                    grown += [tree.add(node, token, uncertainty) for token in tokens]
            level = grown
        return tree
