"""Trees that depend on how certain the draft is of its next token: SVIP's chain and tree, and CaPE.

Each test sees the row a token is drawn from, never the token, so lossless rules remain lossless.
Rows of temperature 0 have no entropy; there the test sees the row at temperature 1.
"""

from __future__ import annotations

import math
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from ..base.codec import JsonObject
from ..config.strategy import number
from ..sampling.distributions import entropy
from ..sampling.randomness import Randomness
from ..tree import TokenTree
from .base import MAX_NODES, Draft, TreeBuilder, max_depth, tree_size

FACTOR = number(1.0, 0.01, 2.0, "Factor c", "Factor of the entropy; 1 is the paper's value.")


class CertaintyBuilder(TreeBuilder):
    """Level by level, as many children of a node as the draft's certainty there allows."""

    def key(self, row: np.ndarray) -> float:
        """How certain, or uncertain, the draft is by `Draft.certainty_row`, float64 [V]; the key
        of the children of its node."""
        raise NotImplementedError

    def count(self, node: int, key: float) -> int:
        """How many children a node may have."""
        raise NotImplementedError

    def expanded(self, children: list[int], key: float) -> list[int]:
        """Which children of a node, if any, may have children themselves."""
        return children

    def __call__(self, draft: Draft, rng: Randomness, tokens_left: int, state: object) -> TokenTree:
        tree = draft.tree
        level = [0]
        # A chain is bounded by its depth alone.
        size = getattr(self, "size", MAX_NODES)
        for _ in range(min(getattr(self, "depth", 1), tokens_left - 1)):
            if not level or len(tree) >= size:
                break
            below: list[int] = []
            for node, q in zip(level, draft.expand(level), strict=True):
                # The test sees the row and never a token that was drawn from it.
                key = self.key(draft.certainty_row(node, q))
                count = min(self.count(node, key), size - len(tree))
                tokens = draft.draw_children(node, count, rng)
                children = [tree.add(node, token, key) for token in tokens]
                below += self.expanded(children, key)
            level = below
        return tree


def doubt(row: np.ndarray, c: float) -> float:
    """sqrt(c H), H the entropy of a row in nats; 1 less it estimates a lower bound of the
    acceptance."""
    return math.sqrt(c * entropy(row))


class Svip(CertaintyBuilder):
    """A chain of at most `depth` tokens that stops after the first one with sqrt(c H) > h (Zhang et
    al. 2024, alg. 1).

    H is the entropy of the row the token was drawn from. The default h was chosen by the paper's
    procedure, as the fastest on eight held-out prompts.
    """

    name = "svip"
    title = "SVIP chain"
    is_chain: ClassVar[bool] = True
    key_title = "draft entropy"
    small: ClassVar[JsonObject] = {"depth": 2, "h": 1.0}
    h: float = number(
        1.4, 0.0, 3.0, "Threshold h", "Stop after sqrt(c * entropy in nats) is above this."
    )
    c: float = FACTOR
    depth: int = number(40, 1, 64, "Max length", "Maximum number of tokens in the chain.")

    def key(self, row: np.ndarray) -> float:
        return doubt(row, self.c)

    def count(self, node: int, key: float) -> int:
        return 1

    def expanded(self, children: list[int], key: float) -> list[int]:
        if key <= self.h:
            return children
        return []


class SvipTree(CertaintyBuilder):
    """`width` children for every node whose row has low entropy; the others, but for the root, stay
    leaves."""

    name = "svip-tree"
    title = "SVIP tree"
    key_title = "draft entropy before it"
    small: ClassVar[JsonObject] = {"size": 4, "depth": 2, "h": 1.0}
    size: int = tree_size(32)
    depth: int = max_depth(6)
    width: int = number(2, 1, 32, "Branching", "Number of children of an expanded node.")
    h: float = number(
        1.8, 0.0, 3.0, "Threshold h", "Expand while sqrt(c * entropy in nats) is at most this."
    )
    c: float = FACTOR

    @property
    def is_chain(self) -> bool:
        return self.width == 1 or self.size <= 2

    def key(self, row: np.ndarray) -> float:
        return doubt(row, self.c)

    def count(self, node: int, key: float) -> int:
        if key <= self.h or node == 0:
            return self.width
        return 0


class Cape(CertaintyBuilder):
    """A chain whose nodes have the more siblings the less confident the draft is (CaPE: Du et al.
    2024).

    The confidence is the draft's largest probability. The default counts are the first ten of the
    list in the authors' code.
    """

    name = "cape"
    title = "CaPE"
    key_title = "draft confidence"
    small: ClassVar[JsonObject] = {"depth": 2, "counts": (3, 2, 1)}
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

    def key(self, row: np.ndarray) -> float:
        return float(row.max())

    def count(self, node: int, key: float) -> int:
        # A confidence of exactly 1 belongs to the last interval.
        return self.counts[min(int(key * len(self.counts)), len(self.counts) - 1)]

    def expanded(self, children: list[int], key: float) -> list[int]:
        return children[:1]
