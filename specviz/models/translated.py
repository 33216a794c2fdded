"""A draft with another vocabulary than the target's: it reads its own token ids and proposes the common tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from ..distributions import Logits
from ..passes.device_logits import DeviceLogits
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ..tree import TokenTree
from .base import Session
from .vocabulary import Translation

SPARE = 128  # positions kept free for the tree, at most a quarter of all


class TranslatedSession:
    """A draft's session on a text of the target.

    It reads a tree of its own, in which each node is the draft's tokens for one of the target's, none or several.

    Args:
        begin: makes the draft's session on its own ids.
        words: the translation.
        tokens: the text so far, ids of the target.
        longest: the longest text that the draft can hold, in its own tokens. A longer one loses its first half, so the
            draft always knows the end of it.
    """

    def __init__(
        self, begin: Callable[[list[int]], Session], words: Translation, tokens: Sequence[int], longest: int
    ) -> None:
        self.context = list(tokens)
        self._begin, self._words, self._longest = begin, words, longest
        self._open(words.context(tokens))

    def _open(self, ids: list[int]) -> None:
        self._draft = self._begin(ids[_start(len(ids), self._longest) :])
        self._read = len(ids)
        self._tree: TokenTree | None = None

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> Logits:
        """Logits after each of `nodes`, float32 [len(nodes), V] over the target's tokens; -inf if not common."""
        if tree is not self._tree:
            ids = self._draft.context
            self._tree, self._own = tree, TokenTree(ids[-1], start=len(ids) - 1)
            self._places: dict[int, list[int]] = {0: [0]}  # node -> its nodes in the draft's tree, and all above
        places = [self._place(tree, int(node))[-1] for node in nodes]
        logits = self._draft.forward(self._own, list(dict.fromkeys(places)))
        order = {place: row for row, place in enumerate(dict.fromkeys(places))}
        return _columns(logits, [order[place] for place in places], self._words)

    def _place(self, tree: TokenTree, node: int) -> list[int]:
        """The draft's nodes from the root down to a node."""
        if node not in self._places:
            path = list(self._place(tree, tree.parents[node]))
            for token in self._words.tokens(tree.tokens[node]):
                if self._own.position(path[-1]) < self._longest:  # else it guesses from what is above
                    path.append(self._own.add(path[-1], token))
            self._places[node] = path
        return self._places[node]

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append what a step wrote; the nodes of `path` that the draft has read are kept."""
        self.context.extend(emitted)
        new = [token for one in emitted for token in self._words.tokens(one)]
        if _start(self._read + len(new), self._longest) != _start(self._read, self._longest):
            self._open(self._words.context(self.context))
            return
        self._read += len(new)
        kept: list[int] = []
        if tree is self._tree:
            for node in path:
                kept = self._places.get(node, [0, *kept])[1:]
            if any(self._own.tokens[node] != token for node, token in zip(kept, new, strict=False)):
                kept = []
        self._draft.commit(tree if self._tree is None else self._own, kept, new)
        self._tree = None


class TranslatedModel:
    """A draft whose vocabulary is not the target's.

    Args:
        draft: the weights, with logits of their own width.
        words: the translation.
        longest: the longest text that it can hold, in its own tokens.
    """

    def __init__(self, draft: HuggingFaceModel, words: Translation, longest: int) -> None:
        self.draft, self.words, self.longest = draft, words, longest

    def open(self, tokens: Sequence[int], target: HuggingFaceSession | None = None) -> TranslatedSession:
        """A session that starts with `tokens`, ids of the target."""
        return TranslatedSession(self.draft.open, self.words, tokens, self.longest)


def common_share(target: HuggingFaceModel, words: Translation, text: Sequence[int]) -> float:
    """The mean probability that the target gives to common tokens along a text, from 0 to 1, at temperature 1.

    Args:
        target: the target.
        words: the translation.
        text: token ids, at least one.
    """
    logits = np.asarray(target.read(text, range(len(text)), None, None, range(len(text))), dtype=np.float64)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    return float((odds[:, words.ours].sum(axis=1) / odds.sum(axis=1)).mean())


def _start(length: int, longest: int) -> int:
    """The first of so many tokens that the draft reads: a multiple of half of what it can hold."""
    most = longest - min(SPARE, longest // 4)
    half = max(1, most // 2)
    return 0 if length <= most else half * (1 + (length - most) // half)


def _columns(logits: Any, rows: list[int], words: Translation) -> Logits:
    """Rows of the draft's logits over the target's tokens, where the logits are."""
    if not isinstance(logits, DeviceLogits):
        return words.columns(np.asarray(logits)[rows])
    given, place = logits.tensor, logits.tensor.device
    ours, theirs = (torch.from_numpy(ids).to(place) for ids in (words.ours, words.theirs))
    full = torch.full((len(rows), words.width), -torch.inf, dtype=given.dtype, device=place)
    full[:, ours] = given[torch.tensor(rows, device=place)][:, theirs]
    return DeviceLogits(full, words.width)
