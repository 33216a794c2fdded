"""A pair that reads each text once, for many runs from one prompt: logits after a text do not depend on the run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..tree import TokenTree
from .base import Session

MAX_NUMBERS = 1 << 26  # of all rows of one model, at most 512 MB
Text = tuple[int, ...]


class RowCache:
    """The logits of one model after texts that begin with the same prompt."""

    def __init__(self, session: Session) -> None:
        self.session, self.start = session, len(session.context)
        self.passes = 0
        self._rows: dict[Text, np.ndarray] = {}

    def logits(self, text: Text, others: Sequence[Text]) -> np.ndarray:
        """The logits after what follows the prompt, [V]; `others` are read in the same pass if one is needed."""
        if text not in self._rows:
            context = self.session.context
            tree, nodes = TokenTree(context[-1], start=self.start - 1), dict[Text, int]({(): 0})
            for unread in [text, *(other for other in others if other not in self._rows)]:
                for end in range(1, len(unread) + 1):
                    if unread[:end] not in nodes:
                        nodes[unread[:end]] = tree.add(nodes[unread[: end - 1]], unread[end - 1])
            logits = self.session.forward(tree, range(len(tree)))
            self.passes += 1
            if (len(self._rows) + len(nodes)) * logits.shape[1] > MAX_NUMBERS:
                self._rows.clear()
            self._rows.update({unread: np.array(logits[node]) for unread, node in nodes.items()})
        return self._rows[text]


class CachedLogits:
    """The logits of a pass, each looked up when it is first used: [n, V] after n texts."""

    def __init__(self, cache: RowCache, texts: Sequence[Text], width: int) -> None:
        self.cache, self.texts, self.shape = cache, texts, (len(texts), width)

    def __len__(self) -> int:
        return len(self.texts)

    def __getitem__(self, index: Any) -> np.ndarray:
        nodes = np.arange(len(self))[index]
        rows = [self.cache.logits(self.texts[node], self.texts) for node in np.atleast_1d(nodes)]
        return np.array(rows) if nodes.ndim else rows[0]


class CachedSession:
    """A session whose passes are looked up: a row that nobody uses is never read, and no features are kept."""

    def __init__(self, cache: RowCache, tokens: Sequence[int], width: int) -> None:
        self.context = list(tokens)
        self._cache, self._width = cache, width

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> CachedLogits:
        """See `Session.forward`."""
        text = tuple(self.context[self._cache.start :])
        texts = [(*text, *(tree.tokens[step] for step in tree.topology.path(node))) for node in nodes]
        return CachedLogits(self._cache, texts, self._width)

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """See `Session.commit`."""
        self.context.extend(emitted)

    def watch(self) -> Any:
        """Not available."""
        raise NotImplementedError


class CachedPair:
    """A pair on one prompt, whose target and draft read each continuation once."""

    def __init__(self, pair: Any, prompt: Sequence[int]) -> None:
        self.pair = pair
        target, draft = pair.open(prompt)
        self.target, self.draft = RowCache(target), draft and RowCache(draft)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pair, name)

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """Not available: what else the pair drafts with may read the target's cache."""
        raise NotImplementedError

    def open(self, tokens: Sequence[int]) -> tuple[CachedSession, CachedSession | None]:
        """Fresh sessions of target and draft that start with `tokens`, which begin with the prompt."""
        draft = None if self.draft is None else CachedSession(self.draft, tokens, self.vocab_size)
        return CachedSession(self.target, tokens, self.vocab_size), draft
