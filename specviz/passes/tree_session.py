"""One model reading one text and the tree that is tried after it.

A pass reads committed tokens that the model has not read yet (a causal run: the prompt at first,
later the last accepted token where it was a leaf), and then the nodes asked for with the ancestors
that it has not read. Every node sits in its own slot of the cache; a mask lets it attend to the
text, its ancestors and itself, and its position is the length of the text plus its depth, whatever
its slot.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
import torch

from ..sampling.distributions import Logits
from ..tree import TokenTree
from .cache import Pass, Slots, TreeCache

# Committed tokens read in one pass before the tree joins in: bounds the size of the mask.
MAX_RUN = 512


class Reader(Protocol):
    """What a session reads with: a `HuggingFaceModel`, or a head of one."""

    model: torch.nn.Module
    feature_layers: tuple[int, ...]

    def new_cache(self) -> TreeCache:
        """An empty cache for one text."""

    def read(self, work: Pass) -> tuple[Logits, torch.Tensor | None]:
        """Logits, and features where they are asked for, at the rows of one pass."""


class HuggingFaceSession:
    """One model reading one text and the tree that is tried after it.

    Args:
        model: the weights.
        tokens: the text so far, at least one token.
        cache: where to keep what it reads; a cache of its own by default.
    """

    def __init__(
        self, model: Reader, tokens: Sequence[int], cache: TreeCache | None = None
    ) -> None:
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
        # The cache's slots themselves need no cleaning: whoever reads next writes over them.
        self._tree: TokenTree | None = None
        self._features = None if self._features is None else {}
        self._slots.clear()

    def _begin(self, tree: TokenTree, nodes: Sequence[int]) -> list[int]:
        # Another tree, or rows asked for twice: read it afresh, so that no node ever has two slots.
        nodes = list(map(int, nodes))
        if tree is not self._tree or not self._slots.keys().isdisjoint(nodes):
            self._forget()
            self._tree = tree
        return nodes

    def forward(self, tree: TokenTree, nodes: Sequence[int]) -> Logits:
        """Logits after each of `nodes`, float32 [len(nodes), V], in one pass."""
        nodes = self._begin(tree, nodes)
        self.cache.used = self._read + len(self._slots)
        # A long prompt comes in parts of its own, and only the last part is read together with the
        # tree.
        while self._base - self._read > MAX_RUN:
            self._read_run()
        run = range(self._read, self._base)
        # Nodes get slots in reading order; rows are asked for in the caller's order, so they are
        # looked up.
        order, masked = self._slots.place(tree, nodes, len(run), first=self.cache.used == 0)
        row = {node: len(run) + i for i, node in enumerate(order)}
        rows = [row[node] for node in nodes]
        logits, features = self._ask(run, order, masked, rows, self._features is not None)
        if self._features is not None and features is not None:
            self._features.update(zip(nodes, features, strict=True))
        self._read = self._base
        return logits

    def commit(self, tree: TokenTree, path: Sequence[int], emitted: Sequence[int]) -> None:
        """Append `emitted` to the context and keep what was read of it: the root and the nodes of
        `path`."""
        base = self._base
        # The root and the accepted nodes move up to the text; the others' slots are free again.
        slots = list[int]()
        if tree is self._tree:
            for node in (0, *path)[: len(emitted)]:
                # A node that was never read ends what can be kept: keys behind it would have a
                # gap.
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
        # A long prompt comes in several passes, whose features are joined at the end.
        runs = []
        while self._read < self._base:
            runs.append(self._read_run(wants_features=True))
        self._features = {}
        if runs:
            return torch.cat(runs)
        none = self.model.model.get_output_embeddings().weight[:0]  # a text of one token
        return none.repeat(1, len(self.model.feature_layers) + 1)

    def features(self, nodes: Sequence[int]) -> torch.Tensor:
        """The features at `nodes` of the tree that was read last, [len(nodes), width]; `watch`
        comes first."""
        assert self._features is not None
        return torch.stack([self._features[node] for node in nodes])

    def _read_run(self, wants_features: bool = False) -> torch.Tensor | None:
        """Read committed tokens in a causal pass of their own; returns their features where they
        are asked for."""
        run = range(self._read, min(self._base, self._read + MAX_RUN))
        rows = range(len(run)) if wants_features else [len(run) - 1]
        _, features = self._ask(run, [], None, rows, wants_features)
        self._read = run.stop
        return features

    def _ask(
        self,
        run: range,
        order: Sequence[int],
        masked: np.ndarray | None,
        rows: Sequence[int],
        wants_features: bool,
    ) -> tuple[Logits, torch.Tensor | None]:
        """One pass over the committed tokens in `run`, then the nodes in `order`; the rest as for
        `Pass`."""
        ids = self.context[run.start : run.stop]
        positions = [*run]
        for node in order:
            assert self._tree is not None
            ids.append(self._tree.tokens[node])
            positions.append(self._base + self._tree.depths[node])
        # Only heads read hidden states beside their tokens.
        hidden = self._target_hidden(run, order)
        return self.model.read(
            Pass(ids, positions, masked, self.cache, rows, hidden, wants_features)
        )

    def _target_hidden(self, run: range, order: Sequence[int]) -> torch.Tensor | None:
        """What a pass over the same tokens reads of the target, [len(run) + len(order), width]."""
        return None
