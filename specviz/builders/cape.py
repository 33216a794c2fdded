"""A chain with more candidates where the draft has low confidence (CaPE: Du et al. 2024, "GliDe with a CaPE").

Unlike `svip` it does not stop at an uncertain place but drafts further tokens there, as leaves beside the chain. The
confidence is the draft's largest probability, at temperature 1 where the draft's own is 0; how many children a node
gets is decided by its row, before any of them is drawn. The default counts are the first ten of the list in the
authors' code.
"""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from pydantic import Field

from ..sampling import children_of, draw_children
from .base import TreeBuilder


class Cape(TreeBuilder):
    """A chain of `depth` tokens whose nodes have the more siblings the less confident the draft is."""

    name: ClassVar[str] = "cape"
    title: ClassVar[str] = "CaPE"
    key_title: ClassVar[str] = "draft confidence"
    small: ClassVar[dict[str, Any]] = {"depth": 2, "counts": (3, 2, 1)}
    size: int = Field(
        64, ge=1, le=1024, title="Tree size (nodes)", description="Maximum number of nodes, including the root."
    )
    depth: int = Field(5, ge=1, le=64, title="Length", description="Number of tokens in the chain.")
    counts: tuple[Annotated[int, Field(ge=1, le=16)], ...] = Field(
        (8, 8, 8, 6, 6, 6, 4, 4, 2, 2),
        min_length=1,
        title="Children by confidence",
        description="Number of children for each of equal intervals of the draft's largest probability, the lowest "
        "first.",
    )

    @property
    def is_chain(self) -> bool:
        return max(self.counts) == 1 or self.size <= 2

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, node = draft.tree, 0
        for _ in range(min(self.depth, tokens_left - 1)):
            if len(tree) == self.size:
                break
            (q,) = draft.expand([node])
            confidence = float(draft.plain(node, q).max())
            wanted = self.counts[min(int(confidence * len(self.counts)), len(self.counts) - 1)]
            count = min(wanted, self.size - len(tree))
            tokens = draw_children(q, children_of(q, count, draft.sparse), scheme, rng, tree.position(node))
            if not tokens:  # the drafter has nothing to say
                break
            children = [tree.add(node, token, confidence) for token in tokens]
            node = children[0]
        return tree
