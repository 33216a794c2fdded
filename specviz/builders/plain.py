"""Plain decoding: only the root, so every pass of the target writes one token."""

from __future__ import annotations

from typing import ClassVar

from .base import TreeBuilder


class Plain(TreeBuilder):
    """Only the root."""

    name: ClassVar[str] = "plain"
    title: ClassVar[str] = "Plain decoding"
    is_chain: ClassVar[bool] = True
    reads_draft: ClassVar[bool] = False
    alone: ClassVar[bool] = True

    def __call__(self, draft, rng, scheme, tokens_left, state):
        return draft.tree
