"""Trees that depend on how certain the draft is of its next token: SVIP's chain and tree, and CaPE.

Each test sees the row a token is drawn from, never the token, so lossless rules remain lossless.
Rows of temperature 0 have no entropy; there the tests look at the row at temperature 1.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import Field

from ..config.strategy import number
from ..sampling.children import children_of, draw_children
from ..sampling.distributions import entropy
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import Draft, TreeBuilder, max_depth, tree_size

FACTOR = number(1.0, 0.01, 2.0, "Factor c", "Factor of the entropy; 1 is the paper's value.")


def uncertainty(draft: Draft, node: int, q: np.ndarray, c: float) -> float:
    """sqrt(c H), H the entropy of the row after a node in nats; 1 less it estimates a lower bound
    of the acceptance."""
    return math.sqrt(c * entropy(draft.at_temperature_1(node, q)))


class Svip(TreeBuilder):
    """A chain of at most `depth` tokens that stops after the first one with sqrt(c H) > h (Zhang et
    al. 2024, alg. 1).

    H is the entropy of the row the token was drawn from. The default h was chosen by the paper's
    procedure, as the fastest on eight held-out prompts.
    """

    name, title = "svip", "SVIP chain"
    is_chain: ClassVar[bool] = True
    key_title = "draft entropy"
    small: ClassVar[dict[str, Any]] = {"depth": 2, "h": 1.0}
    h: float = number(
        1.4, 0.0, 3.0, "Threshold h", "Stop after sqrt(c * entropy in nats) is above this."
    )
    c: float = FACTOR
    depth: int = number(40, 1, 64, "Max length", "Maximum number of tokens in the chain.")

    def __call__(
        self, draft: Draft, rng: Randomness, scheme: str, tokens_left: int, state: Any
    ) -> TokenTree:
        tree, node = draft.tree, 0
        for _ in range(min(self.depth, tokens_left - 1)):
            (q,) = draft.expand([node])
            doubt = uncertainty(draft, node, q, self.c)
            tokens = draw_children(q, 1, scheme, rng, tree.position(node))
            if not tokens:  # the drafter has nothing to say
                break
            node = tree.add(node, tokens[0], doubt)
            if doubt > self.h:
                break
        return tree


class SvipTree(TreeBuilder):
    """`width` children for every node whose row has low entropy; the others, but for the root, stay
    leaves."""

    name, title = "svip-tree", "SVIP tree"
    key_title = "draft entropy before it"
    small: ClassVar[dict[str, Any]] = {"size": 4, "depth": 2, "h": 1.0}
    size: int = tree_size(32)
    depth: int = max_depth(6)
    width: int = number(2, 1, 32, "Branching", "Number of children of an expanded node.")
    h: float = number(
        1.8, 0.0, 3.0, "Threshold h", "Expand while sqrt(c * entropy in nats) is at most this."
    )
    c: float = FACTOR

    def __call__(
        self, draft: Draft, rng: Randomness, scheme: str, tokens_left: int, state: Any
    ) -> TokenTree:
        tree, level = draft.tree, [0]
        for _ in range(min(self.depth, tokens_left - 1)):
            if not level or len(tree) >= self.size:
                break
            grown: list[int] = []
            for node, q in zip(level, draft.expand(level), strict=True):
                count = min(self.width, self.size - len(tree))
                doubt = uncertainty(draft, node, q, self.c)
                if count and (doubt <= self.h or node == 0):
                    tokens = draw_children(
                        q, children_of(q, count, draft.sparse), scheme, rng, tree.position(node)
                    )
                    grown += [tree.add(node, token, doubt) for token in tokens]
            level = grown
        return tree


class Cape(TreeBuilder):
    """A chain whose nodes have the more siblings the less confident the draft is (CaPE: Du et al.
    2024).

    The confidence is the draft's largest probability. The default counts are the first ten of the
    list in the authors' code.
    """

    name, title = "cape", "CaPE"
    key_title = "draft confidence"
    small: ClassVar[dict[str, Any]] = {"depth": 2, "counts": (3, 2, 1)}
    size: int = tree_size(64)
    depth: int = number(5, 1, 64, "Length", "Number of tokens in the chain.")
    counts: tuple[Annotated[int, Field(ge=1, le=16)], ...] = Field(
        (8, 8, 8, 6, 6, 6, 4, 4, 2, 2),
        min_length=1,
        title="Children by confidence",
        description=(
            "Number of children by equal intervals of the draft's largest probability, the "
            "lowest first."
        ),
    )

    @property
    def is_chain(self) -> bool:
        return max(self.counts) == 1 or self.size <= 2

    def __call__(
        self, draft: Draft, rng: Randomness, scheme: str, tokens_left: int, state: Any
    ) -> TokenTree:
        tree, node = draft.tree, 0
        for _ in range(min(self.depth, tokens_left - 1)):
            if len(tree) == self.size:
                break
            (q,) = draft.expand([node])
            confidence = float(draft.at_temperature_1(node, q).max())
            interval = min(int(confidence * len(self.counts)), len(self.counts) - 1)
            count = children_of(q, min(self.counts[interval], self.size - len(tree)), draft.sparse)
            tokens = draw_children(q, count, scheme, rng, tree.position(node))
            if not tokens:  # the drafter has nothing to say
                break
            node, *_ = [tree.add(node, token, confidence) for token in tokens]
        return tree
