"""A draft with another vocabulary than the target's: it reads its own token ids and proposes the common tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from ..distributions import Logits, softmax
from ..passes.device_logits import DeviceLogits
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ..tree import TokenTree
from .base import Session
from .vocabulary import Translation

SPARE = 128  # positions kept free for the tree, at most a quarter of all


class TranslatedSession:
    """A draft's session on a text of the target; a node of its tree is several of the draft's, or none."""

    def __init__(
        self, open_draft: Callable[[list[int]], Session], words: Translation, tokens: Sequence[int], longest: int
    ) -> None:
        self.context = list(tokens)
        self._open_draft, self._words, self._longest = open_draft, words, longest
        self._open(words.context(tokens))

    def _open(self, ids: list[int]) -> None:
        self._draft = self._open_draft(ids[first_token(len(ids), self._longest) :])
        self._length = len(ids)
        self._tree: TokenTree | None = None

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> Logits:
        """Logits after each of `nodes`, float32 [len(nodes), V] over the target's tokens; -inf if not common."""
        if tree is not self._tree:
            ids = self._draft.context
            self._tree, self._own = tree, TokenTree(ids[-1], start=len(ids) - 1)
            self._paths: dict[int, list[int]] = {0: [0]}  # node -> the draft's nodes down to it
        ends = [self._path(tree, int(node))[-1] for node in nodes]
        different = list(dict.fromkeys(ends))
        logits = self._draft.forward(self._own, different)
        return translated_logits(logits, [different.index(end) for end in ends], self._words)

    def _path(self, tree: TokenTree, node: int) -> list[int]:
        if node not in self._paths:
            path = list(self._path(tree, tree.parents[node]))
            for token in self._words.tokens(tree.tokens[node]):
                if self._own.position(path[-1]) < self._longest:  # else it guesses from what is above
                    path.append(self._own.add(path[-1], token))
            self._paths[node] = path
        return self._paths[node]

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append what a step wrote; the nodes of `path` that the draft has read are kept."""
        self.context.extend(emitted)
        new = [token for one in emitted for token in self._words.tokens(one)]
        if first_token(self._length + len(new), self._longest) != first_token(self._length, self._longest):
            self._open(self._words.context(self.context))
            return
        self._length += len(new)
        accepted: list[int] = []
        if tree is self._tree:
            for node in path:
                accepted = self._paths.get(node, [0, *accepted])[1:]
            if [self._own.tokens[node] for node in accepted] != new[: len(accepted)]:
                accepted = []
        self._draft.commit(tree if self._tree is None else self._own, accepted, new)
        self._tree = None


@dataclass
class TranslatedModel:
    """A draft whose vocabulary is not the target's; it can hold `longest` of its own tokens."""

    draft: HuggingFaceModel
    words: Translation
    longest: int

    def open(self, tokens: Sequence[int], target: HuggingFaceSession | None = None) -> TranslatedSession:
        """A session that starts with `tokens`, ids of the target."""
        return TranslatedSession(self.draft.open, self.words, tokens, self.longest)


def first_token(length: int, longest: int) -> int:
    """The first of so many tokens that the draft reads: 0, or a multiple of half of what it can hold."""
    limit = longest - min(SPARE, longest // 4)
    half = max(1, limit // 2)
    return 0 if length <= limit else half * (1 + (length - limit) // half)


def translated_logits(logits: Any, rows: list[int], words: Translation) -> Logits:
    """Rows of the draft's logits over the target's tokens, on the device where the logits are."""
    if not isinstance(logits, DeviceLogits):
        return words.columns(np.asarray(logits)[rows])
    tensor, device = logits.tensor, logits.tensor.device
    ours, theirs = (torch.from_numpy(ids).to(device) for ids in (words.target_ids, words.draft_ids))
    columns = torch.full((len(rows), words.width), -torch.inf, dtype=tensor.dtype, device=device)
    columns[:, ours] = tensor[torch.tensor(rows, device=device)][:, theirs]
    return DeviceLogits(columns, words.width)


def common_mass(target: HuggingFaceModel, words: Translation, text: Sequence[int]) -> float:
    """The mean probability that the target gives to common tokens along a text, token ids, at temperature 1."""
    p = softmax(np.asarray(target.read(text, range(len(text)), None, target.new_cache(), range(len(text)))))
    return float(p[:, words.target_ids].sum(axis=1).mean())
