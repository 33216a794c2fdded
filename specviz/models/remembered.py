"""A pair that remembers the logits after every text it has read, for many runs from one prompt.

The logits after a text do not depend on the run that asks for them. So each text is read once, in a pass over all that
a tree asks for and that was not read yet, and every further run draws from the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..distributions import Distributions, Sampling, probabilities
from ..tree import TokenTree
from .base import Session

KEPT = 1 << 26  # numbers that are remembered of one model, at most 512 MB
Text = tuple[int, ...]


class ReadsTarget(Exception):
    """A drafter reads more of the target than its logits, so the runs need sessions of their own."""


class Read:
    """The logits of one model after texts that begin with the same prompt.

    Args:
        session: the model on the prompt; it commits nothing.
    """

    def __init__(self, session: Session) -> None:
        self.session, self.start = session, len(session.context)
        self.passes = 0
        self._rows: dict[Text, np.ndarray] = {}
        self._probs: dict[tuple[Text, Sampling], np.ndarray] = {}

    def distribution(self, text: Text, others: Sequence[Text], sampling: Sampling) -> np.ndarray:
        """The probability row after a text, float64 [V]; `others` as for `row`."""
        if (text, sampling) not in self._probs:
            row = probabilities(self.row(text, others), sampling)
            self._make_room(len(row))
            self._probs[text, sampling] = row
        return self._probs[text, sampling]

    def row(self, text: Text, others: Sequence[Text]) -> np.ndarray:
        """The logits after a text, [V].

        Args:
            text: what follows the prompt.
            others: texts that are read in the same pass if one is needed.
        """
        if text not in self._rows:
            self._read([text, *(other for other in others if other not in self._rows)])
        return self._rows[text]

    def _read(self, texts: Sequence[Text]) -> None:
        prompt = self.session.context
        tree, place = TokenTree(prompt[-1], start=self.start - 1), dict[Text, int]({(): 0})
        for text in texts:
            for end in range(1, len(text) + 1):
                if text[:end] not in place:
                    place[text[:end]] = tree.add(place[text[: end - 1]], text[end - 1])
        logits = self.session.forward(tree, range(len(tree)))
        self.passes += 1
        self._make_room(len(place) * logits.shape[1])
        self._rows.update({text: np.array(logits[node]) for text, node in place.items()})

    def _make_room(self, numbers: int) -> None:
        known = (self._rows, self._probs)
        if numbers + sum(len(row) for rows in known for row in rows.values()) > KEPT:
            for rows in known:
                rows.clear()


class RememberedLogits:
    """The logits of a pass, each looked up when it is first asked for."""

    def __init__(self, read: Read, texts: Sequence[Text], width: int) -> None:
        self._read, self._texts = read, texts
        self.shape = (len(texts), width)

    def __len__(self) -> int:
        return len(self._texts)

    def __getitem__(self, index: Any) -> np.ndarray:
        picked = self._texts[index] if isinstance(index, slice) else None
        if picked is None and not np.ndim(index):
            return self._read.row(self._texts[index], self._texts)
        return np.array([self._read.row(text, self._texts) for text in picked or [self._texts[i] for i in index]])

    def rows(self, sampling: Sampling, ahead: int = 1) -> Distributions:
        """The probability rows, made when they are asked for."""
        return RememberedRows(self, sampling)

    def distribution(self, node: int, sampling: Sampling) -> np.ndarray:
        """The probability row after a node, float64 [V]."""
        return self._read.distribution(self._texts[node], self._texts, sampling)


class RememberedRows(Distributions):
    """Probability rows of which each is made once for all runs."""

    logits: RememberedLogits

    def __getitem__(self, node: int) -> np.ndarray:
        return self.logits.distribution(node, self.sampling)

    def every(self) -> list[np.ndarray]:
        return [self[node] for node in range(len(self))]


class RememberedSession:
    """A session whose passes are looked up: what nobody asks for is never read."""

    def __init__(self, read: Read, tokens: Sequence[int], width: int) -> None:
        self.context = list(tokens)
        self._read, self._width = read, width

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> RememberedLogits:
        """See `Session.forward`."""
        written = tuple(self.context[self._read.start :])
        paths = [(*written, *(tree.tokens[step] for step in tree.topology.path(node))) for node in nodes]
        return RememberedLogits(self._read, paths, self._width)

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """See `Session.commit`."""
        self.context.extend(emitted)

    def watch(self) -> Any:
        """Not available: features are not remembered."""
        raise ReadsTarget

    def features(self, nodes: Sequence[int]) -> Any:
        """Not available: features are not remembered."""
        raise ReadsTarget


class RememberedPair:
    """A pair on one prompt, whose target and draft read each continuation once.

    Args:
        pair: the models.
        prompt: token ids that every run begins with.

    >>> kept = RememberedPair(specviz.toy_pair(), [0, 1])
    >>> config = specviz.RunConfig([0, 1], max_new_tokens=8, seed=1)
    >>> specviz.run(kept, config).tokens == specviz.run(specviz.toy_pair(), config).tokens
    True
    """

    def __init__(self, pair: Any, prompt: Sequence[int]) -> None:
        self.pair = pair
        self._ids: dict[str, list[int]] = {}
        target, draft = pair.open(prompt)
        self.target, self.draft = Read(target), draft and Read(draft)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.pair, name)

    def encode(self, text: str) -> list[int]:
        """The token ids of `text`."""
        if text not in self._ids:
            self._ids[text] = list(self.pair.encode(text))
        return list(self._ids[text])

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """Not available: what else the pair drafts with may read the target's cache."""
        raise ReadsTarget

    def open(self, tokens: Sequence[int]) -> tuple[RememberedSession, RememberedSession | None]:
        """Fresh sessions of target and draft that start with `tokens`, which begin with the prompt."""
        draft = None if self.draft is None else RememberedSession(self.draft, tokens, self.vocab_size)
        return RememberedSession(self.target, tokens, self.vocab_size), draft
