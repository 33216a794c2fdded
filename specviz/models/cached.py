"""A pair that reads each text once, for many runs from one prompt: logits after a text do not depend on the run."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..tree import TokenTree
from .base import Session
from .table import TableModel, TableSession

MAX_NUMBERS = 1 << 26  # of all rows of one model, at most 512 MB


class CachedModel(TableModel):
    """A model as a table that a session fills, for texts that begin with its prompt; `passes` it took so far."""

    def __init__(self, session: Session, vocab_size: int) -> None:
        self.session, self.start, self.passes = session, len(session.context), 0
        self._row = lru_cache(MAX_NUMBERS // vocab_size)(self._read)

    def logits(self, context: Sequence[int]) -> np.ndarray:
        return self._row(tuple(context[self.start :]))

    def _read(self, text: tuple[int, ...]) -> np.ndarray:
        """The logits after what follows the prompt, [V]."""
        tree = TokenTree(self.session.context[-1], start=self.start - 1)
        for parent, token in enumerate(text):
            tree.add(parent, token)
        self.passes += 1
        return np.array(self.session.forward(tree, [len(text)])[0])


class CachedPair:
    """A pair on one prompt, whose target and draft read each continuation once."""

    def __init__(self, pair: Any, prompt: Sequence[int]) -> None:
        self.pair, self.prompt = pair, list(prompt)
        self.target, self.draft = (session and CachedModel(session, pair.vocab_size) for session in pair.open(prompt))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pair, name)

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """Not available: what else the pair drafts with may read the target's cache."""
        raise NotImplementedError

    def open(self, tokens: Sequence[int]) -> tuple[TableSession, TableSession | None]:
        """Fresh sessions of target and draft that start with `tokens`, which begin with the prompt."""
        draft = None if self.draft is None else TableSession(self.draft, tokens)
        return TableSession(self.target, tokens), draft
