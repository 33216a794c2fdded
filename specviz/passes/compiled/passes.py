"""A pass as compiled calls, with weights laid out for them.

Through torch a layer of a small model is some thirty calls, each of which takes longer than its
arithmetic once the target's weights have gone through the processor's caches; and a product of a
few rows reads its weights at a third of the memory's speed. Here a pass is one call (`kernels.py`),
which does both at once; a long pass is several calls, and so is one whose layers come from disk.
The self-test compares the logits with torch's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import torch

from ..cache import TreeCache
from ..layers import Layer, raw, raw_layer
from . import kernels
from .dot_products import BLOCK, in_blocks
from .helpers import run_with_helpers

MAX_TOKENS = 64  # of a call
CAUSAL = ~np.tri(MAX_TOKENS, dtype=bool)
# A pass is over before another thread could help up to so many bytes of weights times tokens, where
# reading the weights counts as much as computing with them for a few tokens.
ONE_THREAD, READING = 3 << 24, 4


def compiled_layer(layer: Layer) -> Layer:
    """The weights of a layer as arrays for `kernels.forward`: matrices in blocks, those of gate and
    up in turn."""
    arrays = raw_layer(layer)
    blocks = Layer(*(in_blocks(array) if array.ndim == 2 else array for array in arrays))
    gate, up = map(in_blocks, np.split(arrays.gate_up, 2))
    return blocks._replace(gate_up=np.stack([gate, up], axis=1).reshape(-1, *gate.shape[1:]))


class CompiledPasses:
    """The passes of one model.

    Args:
        direct: its `DirectForward`, whose weights are laid out.
        stream: its layers from disk, each as `compiled_layer` makes them with an axis of one layer
            in front; None where they are in memory.
    """

    def __init__(self, direct: Any, stream: Any = None) -> None:
        self.heads, self.kv_heads, self.width, self.mlp = (
            direct.heads,
            direct.kv_heads,
            direct.width,
            direct.mlp,
        )
        self.embed, self.table = direct.embed, direct.rotary[:, :, 0].contiguous().numpy()
        self.scale, self.eps = float(direct.scale), float(direct.eps)
        self.rows, self.stream = raw(self.embed), stream
        self.layer_ids = np.arange(len(direct.layers))
        self.lay_out(direct)
        self.join = self.head[1][:0]

    def lay_out(self, direct: Any) -> None:
        """Read the weights as they are now."""
        self.vocabulary = len(direct.head.weight)
        norm, bias = raw(direct.norm), direct.head.bias
        self.head = (
            norm,
            in_blocks(raw(direct.head.weight)),
            norm[:0] if bias is None else raw(bias),
        )
        if self.stream is not None:
            self.layers, size = self.stream.no_layers, self.stream.bytes
        else:
            self.layers = Layer(
                *map(np.stack, zip(*map(compiled_layer, direct.layers), strict=True))
            )
            size = sum(part.nbytes for part in self.layers)
        self.size = size + sum(part.nbytes for part in self.head)

    def of(self, layer_ids: Sequence[int]) -> CompiledPasses:
        """The passes of the same model with some of its layers, in memory; no weight is copied."""
        some = copy(self)
        some.layer_ids = self.layer_ids[list(layer_ids)]
        return some

    def after(self, join: torch.Tensor, target: CompiledPasses) -> CompiledPasses:
        """The passes of a layer that reads a target's features beside its embeddings, with the
        target's output head.

        Args:
            join: what makes the layer's input of both, [width, 2 * width].
            target: the target's passes.
        """
        some = copy(self)
        some.rows, some.vocabulary, some.join = target.rows, target.vocabulary, in_blocks(raw(join))
        some.head = self.head[0], *target.head[1:]
        some.size = sum(part.nbytes for part in (some.join, *some.layers, *some.head))
        return some

    def read(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        masked: np.ndarray | None,
        cache: TreeCache,
        rows: Sequence[int],
        features: torch.Tensor | None = None,
        feature_layers: Sequence[int] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """One pass; the cache's slots behind those in use are written.

        Args:
            tokens, positions, masked, cache, rows: as for `HuggingFaceModel.read`.
            features: read together with the tokens, [m, width], by passes made with `after`.
            feature_layers: layers whose input at `rows` is returned as well, counted from 0.

        Returns:
            The inputs of `feature_layers` and the last hidden states after the final norm side by
            side, [len(rows), (layers + 1) * width], and float32 logits, [len(rows), V].
        """
        ascending = sorted(rows)
        if list(rows) != ascending:
            states, logits = self.read(
                tokens, positions, masked, cache, ascending, features, feature_layers
            )
            back = np.searchsorted(ascending, rows)
            return states[back], logits[back]
        x = self.rows[tokens]
        inputs = x[:0]
        if features is not None:
            inputs, x = np.concatenate([raw(features), x], axis=1), np.empty_like(x)
        m, used = len(x), cache.used
        # Keys and values are filled up with zeros to whole blocks.
        block = cache.numbers(used + m, self.kv_heads, -(-self.width // BLOCK) * BLOCK)
        places, selected = np.array(positions, np.int64), np.array(rows, np.int64)
        states = np.empty((len(rows), x.shape[1]), x.dtype)
        logits = np.empty((len(rows), self.vocabulary), np.float32)
        layer_inputs = []
        for first, layer_ids, weights, is_last in self._groups(feature_layers):
            if first in feature_layers:  # x is what the layers before passed on
                layer_inputs.append(x[selected])
            slots = slice(2 * first, 2 * (first + len(layer_ids)))
            for start in range(0, m, MAX_TOKENS):
                part = slice(start, min(m, start + MAX_TOKENS))
                here = slice(
                    bisect_left(rows, start), bisect_left(rows, part.stop) if is_last else 0
                )
                unseen = CAUSAL[: part.stop - start, : part.stop - start]
                if masked is not None:  # no token sees what is read after it
                    unseen = masked[part, : masked.shape[1] - m + part.stop]
                self._run(
                    inputs[part],
                    x[part],
                    places[part],
                    np.ascontiguousarray(unseen),
                    selected[here] - start,
                    layer_ids,
                    weights,
                    block[slots],
                    used + start,
                    states[here],
                    logits[here],
                )
        return np.concatenate([*layer_inputs, states], axis=1), logits

    def _groups(
        self, feature_layers: Sequence[int]
    ) -> Iterator[tuple[int, np.ndarray, Layer, bool]]:
        """What one call goes through: layers in memory up to the next of `feature_layers`, or one
        layer after the other from disk.

        Returns:
            The number of the first layer, the layers' places in the weights, weights, and whether
            they are last.
        """
        if self.stream is None:
            starts = sorted({0, *feature_layers})
            for start, end in zip(starts, [*starts[1:], len(self.layer_ids)], strict=True):
                yield start, self.layer_ids[start:end], self.layers, end == len(self.layer_ids)
        else:
            for layer, weights in enumerate(self.stream):
                yield layer, self.layer_ids[:1], weights, layer == len(self.stream) - 1

    def logits(self, states: torch.Tensor) -> np.ndarray:
        """Float32 logits of last hidden states after the final norm, [n, width]."""
        logits, none = np.empty((len(states), self.vocabulary), np.float32), np.empty(0, np.int64)
        block, masked = (
            np.empty((0, self.kv_heads, 1, self.width), np.float32),
            np.empty((0, 0), bool),
        )
        x = raw(states)
        self._run(x[:0], x, none, masked, none, none, self.layers, block, 0, x, logits)
        return logits

    def _run(
        self, inputs, x, positions, masked, rows, layer_ids, weights, block, used, states, logits
    ):
        m, width = len(x), self.heads * self.width
        qkv, mixed, gate = (
            np.empty((m, size), x.dtype)
            for size in (width + 2 * self.kv_heads * self.width, width, self.mlp)
        )
        counters = np.zeros(2 * (5 * len(layer_ids) + 3) + 1, np.int64)
        helpers = (
            min(torch.get_num_threads(), kernels.CHUNKS) - 1
            if self.size * (m + READING) > ONE_THREAD
            else 0
        )
        run_with_helpers(
            kernels.forward,
            helpers,
            counters,
            inputs,
            self.join,
            x,
            positions,
            masked,
            rows,
            layer_ids,
            weights,
            block,
            used,
            self.table,
            self.scale,
            self.eps,
            *self.head,
            qkv,
            mixed,
            gate,
            states,
            logits,
        )
