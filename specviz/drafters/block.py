"""A block drafter: the rows of several levels from one pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np
from pydantic import Field

from ..base.codec import JsonObject
from ..sampling.distributions import Sampling
from ..tree import TokenTree
from .base import Drafter, DrafterContext, DrafterSession, TargetOutputs
from .models import FeatureReader, FeatureSession


class Block(Drafter):
    """One pass for the next 8 positions, from the target's hidden states (DFlash, arXiv
    2602.06036).

    With the Markov head (DSpark, 2607.05147) a row is corrected by the token before it. Without it
    all nodes of a level have one row, and what stands below different parents does not fit them.
    """

    name = "block"
    title = "Block"
    title_in_sentence = "a block drafter"
    reads_features = True
    depends_on_depth = True
    small: ClassVar[JsonObject] = {"markov": True}
    markov: bool = Field(
        True, title="Markov head", description="Correct each row by the token before it."
    )

    def open(self, context: DrafterContext) -> DrafterSession:
        return BlockDrafting(self, context)


class BlockReader(FeatureReader, Protocol):
    """A session that makes the rows of `block` levels in one of its `passes`."""

    block: int
    passes: int


class BlockDrafting(FeatureSession):
    """A block on one text. Nodes whose rows are the same share one array."""

    session: BlockReader

    def __init__(self, drafter: Block, context: DrafterContext) -> None:
        super().__init__(drafter, context)
        self.markov = drafter.markov
        self._rows: dict[tuple[int, int], np.ndarray] = {}  # of this step, by depth and token

    def expand(self, tree: TokenTree, nodes: Sequence[int], sampling: Sampling) -> list[np.ndarray]:
        new: dict[tuple[int, int], int] = {}  # key -> the first node that has it
        for node in nodes:
            key = self._key(tree, node)
            if key not in self._rows and key[0] < self.session.block:
                new.setdefault(key, node)
        if new:
            rows = super().expand(tree, list(new.values()), sampling)
            self._rows.update(zip(new, rows, strict=True))
            self.passes = self.session.passes
        return [self._rows.get(self._key(tree, node), self._zeros) for node in nodes]

    def _key(self, tree: TokenTree, node: int) -> tuple[int, int]:
        """What the row after a node follows from: its depth, and its token if that counts."""
        depth = tree.depths[node]
        # The root's token is part of the pass itself, so its row depends on nothing else.
        token = -1
        if self.markov and depth:
            token = tree.tokens[node]
        return depth, token

    def commit(
        self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int], seen: TargetOutputs
    ) -> None:
        super().commit(tree, path, emitted, seen)
        self._rows.clear()
