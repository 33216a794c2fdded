"""One model reading one text and the tree that is tried after it.

A pass reads committed tokens that the model has not read yet (a causal run: the prompt at first,
later the last accepted token where it was a leaf), and then the nodes asked for with the ancestors
that it has not read. Every node sits in its own slot of the cache; a mask lets it attend to the
text, its ancestors and itself, and its position is the length of the text plus its depth, whatever
its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from ..tree import TokenTree
from .cache import Slots, TreeCache
from .device_logits import DeviceLogits

# Committed tokens read in one pass before the tree joins in: bounds the size of the mask.
MAX_RUN = 512


class HuggingFaceSession:
    """One model reading one text and the tree that is tried after it.

    Args:
        model: the weights, a `HuggingFaceModel` or what has its `read` and `new_cache`.
        tokens: the text so far, at least one token.
        cache: where to keep what it reads; a cache of its own by default.
    """

    def __init__(self, model: Any, tokens: Sequence[int], cache: TreeCache | None = None) -> None:
        self.model = model
        self.context = list(tokens)
        self.cache = model.new_cache() if cache is None else cache
        # tokens of the context that the cache holds; never the last, which is the root of the tree
        self._read = 0
        # At nodes of this tree, if they are kept.
        self._features: dict[int, torch.Tensor] | None = None
        self._slots = Slots()
        self._forget()

    @property
    def _base(self) -> int:
        """Slot and position of the root: the committed tokens before it."""
        return len(self.context) - 1

    def _forget(self) -> None:
        """Drop the tree that was read."""
        self._tree: TokenTree | None = None
        self._features = None if self._features is None else {}
        self._slots.clear()

    def _begin(self, tree: TokenTree, nodes: Sequence[int]) -> list[int]:
        # Another tree, or rows asked for twice: read it afresh, so that no node ever has two slots.
        nodes = [int(node) for node in nodes]
        if tree is not self._tree or not self._slots.keys().isdisjoint(nodes):
            self._forget()
            self._tree = tree
        return nodes

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> np.ndarray | DeviceLogits:
        """Logits after each of `nodes`, float32 [len(nodes), V], in one pass."""
        nodes = self._begin(tree, nodes)
        self.cache.used = self._read + len(self._slots)
        while self._base - self._read > MAX_RUN:
            self._read_run()
        run = range(self._read, self._base)
        order, masked = self._slots.place(tree, nodes, len(run), first=self.cache.used == 0)
        row = {node: len(run) + i for i, node in enumerate(order)}
        states: list[torch.Tensor] | None = None if self._features is None else []
        logits = self._ask(run, order, masked, [row[node] for node in nodes], states)
        if self._features is not None and states:
            self._features.update(zip(nodes, states[0], strict=True))
        self._read = self._base
        return logits

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append `emitted` to the context and keep what was read of it: the root and the nodes of
        `path`."""
        base = self._base
        slots = list[int]()
        if tree is self._tree:
            for node in (0, *path)[: len(emitted)]:
                if node not in self._slots:
                    break
                slots.append(base + self._slots[node])
            self.cache.keep(slots, base)
            self._read = base + len(slots)
        self.context.extend(emitted)
        self._forget()

    def watch(self) -> torch.Tensor:
        """Read the context but its last token, return the features there, [n - 1, width], and keep
        them from now on."""
        states: list[torch.Tensor] = []
        while self._read < self._base:
            self._read_run(states)
        self._features = {}
        if states:
            return torch.cat(states)
        none = self.model.model.get_output_embeddings().weight[:0]  # a text of one token
        return none.repeat(1, len(self.model.feature_layers) + 1)

    def features(self, nodes: Sequence[int]) -> torch.Tensor:
        """The features at `nodes` of the tree that was read last, [len(nodes), width]; `watch`
        comes first."""
        assert self._features is not None
        return torch.stack([self._features[node] for node in nodes])

    def _read_run(self, features: list[torch.Tensor] | None = None) -> None:
        """Read committed tokens in a causal pass of their own."""
        span = range(self._read, min(self._base, self._read + MAX_RUN))
        rows = [len(span) - 1] if features is None else list(range(len(span)))
        self._ask(span, [], None, rows, features)
        self._read = span.stop

    def _ask(self, run, order, masked, rows, features) -> np.ndarray | DeviceLogits:
        """One pass over the committed tokens in `run`, then the nodes in `order`; the rest as for a
        model's `read`."""
        ids = self.context[run.start : run.stop]
        positions = [*run]
        for node in order:
            assert self._tree is not None
            ids.append(self._tree.tokens[node])
            positions.append(self._base + self._tree.depths[node])
        hidden = self._target_hidden(run, order)
        return self.model.read(ids, positions, masked, self.cache, rows, features, hidden)

    def _target_hidden(self, run: range, order: Sequence[int]) -> torch.Tensor | None:
        """What a pass over the same tokens reads of the target, [len(run) + len(order), width]."""
        return None
