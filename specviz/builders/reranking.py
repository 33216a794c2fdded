"""Trees re-ranked once they are drafted: the draft reads the best nodes of each level, and the best of all are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from pydantic import Field

from ..sampling import most_probable
from ..tree import Chart, TokenTree
from .base import TreeBuilder

CUT = 8  # how many of the candidates that were cut are recorded


@dataclass(frozen=True, eq=False)
class Candidate:
    """A token that may enter the tree.

    Args:
        value: the product of q along its path.
        parent: the candidate above it, None below the root.
        token: its id.
    """

    value: float
    parent: Candidate | None
    token: int


class Reranked(TreeBuilder):
    """The best `size` - 1 of all candidates found by expanding the `width` best nodes of every level."""

    key_title: ClassVar[str] = "the draft's probability of its path"
    schemes: ClassVar[tuple[str, ...]] = ("top",)
    in_support: ClassVar[bool] = True
    size: int = Field(
        16, ge=1, le=1024, title="Tree size (nodes)", description="Number of nodes kept, including the root."
    )
    depth: int = Field(5, ge=1, le=64, title="Max depth", description="Maximum number of levels below the root.")
    width: int = Field(
        4,
        ge=1,
        le=64,
        title="Expanded per level",
        description="Number of nodes expanded per level, and of children per node.",
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        read: dict[Candidate | None, int] = {None: 0}  # what the draft reads -> its node in the draft's own tree
        level: list[Candidate | None] = [None]
        found: list[Candidate] = []
        for depth in range(min(self.depth, tokens_left - 1)):
            if not level or not self._likely(level):  # not level: the drafter has nothing more to say
                break
            children, rows = [], draft.expand([read[above] for above in level])
            if not self._certain(depth, draft.plain(read[level[0]], rows[0])):
                break
            for above, q in zip(level, rows, strict=True):
                value = 1.0 if above is None else above.value
                tokens = [token for token in most_probable(q, self.width) if q[token] > 0]
                children += [Candidate(value * float(q[token]), above, token) for token in tokens]
            found += children
            level = sorted(children, key=lambda candidate: -candidate.value)[: self.width]
            for candidate in level:
                read[candidate] = draft.tree.add(read[candidate.parent], candidate.token)
        ranked = sorted(found, key=lambda candidate: -candidate.value)  # stable: a parent stays before its children
        return self._keep(draft.tree, read, ranked)

    def _likely(self, level) -> bool:
        """Whether the draft is to read a level."""
        return True

    def _certain(self, depth: int, row: np.ndarray) -> bool:
        """Whether a level that was read is to have children, by its depth and its best node's row."""
        return True

    def _keep(self, drafted, read, ranked) -> TokenTree:
        """The tree of the best candidates, best first, and a record of what was cut."""
        tree, place = TokenTree(drafted.tokens[0], drafted.start, drafted.scheme), {None: 0}
        for candidate in ranked[: self.size - 1]:
            place[candidate] = tree.add(place[candidate.parent], candidate.token, candidate.value)
        # The draft's own tree is another one: it holds only what was read, and some of that was cut.
        tree.origin = {place[candidate]: node for candidate, node in read.items() if candidate in place}
        rows = drafted.draft_distributions
        tree.draft_distributions = {node: rows[old] for node, old in tree.origin.items() if old in rows}
        cut = ranked[self.size - 1 :]
        lost = Chart(tuple(lost.token for lost in cut[:CUT]), {"keys": tuple(lost.value for lost in cut[:CUT])})
        tree.grew(candidates=len(ranked), cut=lost)
        return tree
