"""Drafts without a draft model: continuations of the last tokens, found in the text (prompt lookup, Saxena 2023).

Unlike all other builders it has no model and no distribution q, so only rules that do not compare with q can be used.
Several matches are merged into one tree, as in retrieval-based drafting (REST: He et al. 2023): longer matches first,
then the most recent; equal beginnings share their nodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import Field

from .base import TreeBuilder


class PromptLookup(TreeBuilder):
    """Continuations of the last tokens, found in the text so far."""

    name: ClassVar[str] = "prompt-lookup"
    title: ClassVar[str] = "Prompt lookup"
    key_title: ClassVar[str] = "length of the match"
    schemes: ClassVar[tuple[str, ...]] = ("top",)
    reads_draft: ClassVar[bool] = False
    small: ClassVar[dict[str, Any]] = {"depth": 2, "width": 2}
    ngram: int = Field(
        3,
        ge=1,
        le=16,
        title="Max match",
        description="Maximum number of last tokens to match; fewer if there is no match.",
    )
    depth: int = Field(8, ge=1, le=64, title="Max depth", description="Maximum number of tokens per continuation.")
    width: int = Field(4, ge=1, le=64, title="Matches", description="Number of continuations merged into the tree.")
    size: int = Field(
        32, ge=1, le=1024, title="Tree size (nodes)", description="Maximum number of nodes, including the root."
    )

    def __call__(self, draft, rng, scheme, tokens_left, state):
        tree, places = draft.tree, {}
        for length, end in self._matches(draft.context):
            node = 0
            for token in draft.context[end : end + min(self.depth, tokens_left - 1)]:
                if (node, token) not in places:
                    if len(tree) >= self.size:
                        return tree
                    places[node, token] = tree.add(node, token, float(length))
                node = places[node, token]
        return tree

    def _matches(self, context: Sequence[int]) -> Iterator[tuple[int, int]]:
        """(length of the match, where its continuation starts), each place once, at most `width` of them."""
        text, seen = np.asarray(context), set()
        ends = 1 + np.flatnonzero(text[:-1] == text[-1])[::-1]  # one past every earlier copy of the last token
        for length in range(min(self.ngram, len(text) - 1), 0, -1):
            for end in ends.tolist():
                if end >= length and end not in seen and (text[end - length : end] == text[-length:]).all():
                    seen.add(end)
                    yield length, end
                    if len(seen) == self.width:
                        return
