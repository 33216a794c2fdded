"""A chain with adaptive length: two tokens more after a fully accepted draft, one fewer otherwise.

Unlike `chain` its length need not be chosen. This is the "heuristic" schedule of assisted generation in
Hugging Face transformers, SVIP's baseline, with its limit of 40 tokens (Zhang et al. 2024, section 3.1.1). The length
is decided before anything is drawn, so the output distribution does not change.
"""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from .base import TreeBuilder
from .filling import fill, grow_shape


class Heuristic(TreeBuilder):
    """A chain of a length that grows by 2 and shrinks by 1."""

    name: ClassVar[str] = "heuristic"
    title: ClassVar[str] = "Heuristic chain"
    is_chain: ClassVar[bool] = True
    small: ClassVar[dict[str, Any]] = {"depth": 2}
    depth: int = Field(5, ge=1, le=64, title="Initial length", description="Number of tokens of the first draft.")
    longest: int = Field(40, ge=1, le=64, title="Max length", description="Maximum number of drafted tokens.")

    def start(self):
        return min(self.depth, self.longest)

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree = fill(draft, grow_shape([1] * state), scheme, rng, tokens_left)
        tree.grew(length=state)
        return tree

    def learn(self, state, tree, verdict, rows=None):
        if len(tree) == 1:  # the text had no room for a draft
            return state
        if len(verdict.path) == len(tree) - 1:
            return min(self.longest, state + 2)
        return max(1, state - 1)
