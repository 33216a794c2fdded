"""An acceptance vector that follows a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from .vectors import Plan, Vector, by_level


@dataclass(frozen=True)
class RunningAcceptance:
    """An acceptance vector that is updated during a run: a stored one counted as `PRIOR`
    observations, and new ones.

    Args:
        prior: the stored vector.
        tried, accepted: for each rank how often an accepted node had such a child, and how often it
            was accepted.
        steps: how many steps were seen.
        vector: the current estimate; it moves every `EVERY` steps, so that the tree is not planned
            again at each step.
    """

    PRIOR: ClassVar[int] = 8
    EVERY: ClassVar[int] = 4
    prior: Vector
    tried: tuple[int, ...]
    accepted: tuple[int, ...]
    steps: int
    vector: Vector

    @classmethod
    def begin(cls, prior: Plan) -> RunningAcceptance:
        """The estimate before the first step; of one vector per level it is the first."""
        first = by_level(prior)[0]
        zeros = (0,) * len(first)
        # Nothing was seen: the estimate is the stored vector itself.
        return cls(first, zeros, zeros, 0, first)

    def learn(self, children: Sequence[Sequence[int]], path: Sequence[int]) -> RunningAcceptance:
        """The estimate after one more step; `children` of each node, and the accepted path."""
        tried = list(self.tried)
        accepted = list(self.accepted)
        for node, next_node in zip((0, *path), (*path, None), strict=True):
            # Along the accepted path only: what lies beside it was tried under another parent.
            for rank, child in enumerate(children[node][: len(tried)]):
                tried[rank] += 1
                accepted[rank] += child == next_node
        # A vector that moved at every step would have the tree planned anew at every step.
        vector = self.vector
        if (self.steps + 1) % self.EVERY == 0:
            moved = []
            for prior, seen, hits in zip(self.prior, tried, accepted, strict=True):
                moved.append((self.PRIOR * prior + hits) / (self.PRIOR + seen))
            vector = tuple(moved)
        return RunningAcceptance(self.prior, tuple(tried), tuple(accepted), self.steps + 1, vector)
