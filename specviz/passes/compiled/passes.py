"""A pass as compiled calls, with weights laid out for them.

Through torch a layer of a small model is some thirty calls, each of which takes longer than its
arithmetic once the target's weights have gone through the processor's caches; and a product of a
few rows reads its weights at a third of the memory's speed. Here a pass is one call (`kernels.py`),
which does both at once; a long pass is several calls, and so is one whose layers come from disk.
The self-test compares the logits with torch's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np
import torch

from ..cache import TreeCache
from ..layers import Layer, raw
from . import kernels
from .byte_products import GROUP
from .dot_products import BLOCK, in_blocks
from .helpers import run_with_helpers
from .layouts import compiled_layer, low_precision_layer, size_of, stack_layers, turns_of
from .low_precision import low_precision
from .products import CHUNKS, Linear, normalise_rows

TOKENS_PER_CALL = 64  # of a call
CAUSAL = ~np.tri(TOKENS_PER_CALL, dtype=bool)
# A pass is over before another thread could help up to so many bytes of weights times tokens, where
# reading the weights counts as much as computing with them for a few tokens.
ONE_THREAD, READING = 3 << 24, 4


class CompiledPasses:
    """The passes of one model.

    Args:
        direct: its `DirectForward`, or what has the same attributes; its weights are laid out.
        stream: its layers from disk, each as `compiled_layer` makes them with an axis of one layer
            in front; None where they are in memory.

    Attributes:
        GROUP: what the number of inputs of every matrix must be a multiple of in low precision.
    """

    GROUP = GROUP

    def __init__(self, direct: Any, stream: Any = None) -> None:
        self.heads, self.kv_heads = direct.heads, direct.kv_heads
        self.width, self.mlp = direct.width, direct.mlp
        self.embed, self.stream = direct.embed, stream
        scale = direct.embed_scale
        self.rows = raw(self.embed if scale is None else self.embed.detach() * scale)
        self.layer_ids = np.arange(len(direct.layers))
        self.window = direct.window
        self.lay_out(direct)

    def lay_out(self, direct: Any) -> None:
        """Read the weights as they are now."""
        self.vocabulary = len(direct.head.weight)
        norm, bias = raw(direct.norm), direct.head.bias
        no_bias = raw(direct.head.weight)[0, :0]
        head = Linear(
            norm, in_blocks(raw(direct.head.weight)), no_bias if bias is None else raw(bias)
        )
        if self.stream is None:
            layers = stack_layers(map(compiled_layer, direct.layers))
            size = size_of(layers)
        else:
            # Each layer comes from disk while the one before is computed, so none is kept here.
            layers, size = self.stream.no_layers, self.stream.bytes
        self.model = kernels.Model(
            layers=layers,
            turns=turns_of(direct.rotary),
            first_turns=np.array(direct.first_turns),
            is_windowed=np.array(direct.is_windowed, bool),
            join=head.weights[:0],
            head=head,
            activation=kernels.ACTIVATIONS[direct.activation],
            scale=float(direct.scale),
            eps=float(direct.eps),
        )
        self.size = size + head.weights.nbytes

    def of(self, layer_ids: Sequence[int]) -> CompiledPasses:
        """The passes of the same model with some of its layers, in memory; no weight is copied."""
        some = copy(self)
        some.layer_ids = self.layer_ids[list(layer_ids)]
        return some

    def in_low_precision(
        self, layers: Iterable[Layer], head: torch.Tensor, bits: int
    ) -> CompiledPasses:
        """The passes of the same model with its `layers` and output head, [V, width], in so many
        bits, in memory."""
        some = copy(self)
        stacked = stack_layers(low_precision_layer(layer, bits) for layer in layers)
        weights = low_precision(head.detach().float().numpy(), bits)
        some.stream = None
        some.model = self.model._replace(
            layers=stacked, head=self.model.head._replace(weights=weights)
        )
        some.size = size_of(stacked) + size_of(weights)
        return some

    def after(self, join: torch.Tensor, target: CompiledPasses) -> CompiledPasses:
        """The passes of a layer that reads a target's features beside its embeddings, with the
        target's output head.

        Args:
            join: what makes the layer's input of both, [width, 2 * width].
            target: the target's passes.
        """
        some = copy(self)
        some.rows, some.vocabulary = target.rows, target.vocabulary
        head = target.model.head._replace(norm=self.model.head.norm)
        some.model = self.model._replace(join=in_blocks(raw(join)), head=head)
        some.size = self.size + some.model.join.nbytes + head.weights.nbytes
        return some

    def read(
        self,
        tokens: Sequence[int],
        positions: Sequence[int],
        masked: np.ndarray | None,
        cache: TreeCache,
        rows: Sequence[int],
        hidden: torch.Tensor | None = None,
        feature_layers: Sequence[int] = (),
    ) -> tuple[np.ndarray, np.ndarray]:
        """One pass; the cache's slots behind those in use are written.

        Args:
            tokens, positions, masked, cache, rows: as for `HuggingFaceModel.read`.
            hidden: read together with the tokens, [m, width], by passes that take them.
            feature_layers: layers whose input at `rows` is returned as well, counted from 0; the
                number of layers stands for what the last one passes on.

        Returns:
            The inputs of `feature_layers` and the last hidden states after the final norm side by
            side, [len(rows), (layers + 1) * width], and float32 logits, [len(rows), V].
        """
        ascending = sorted(rows)
        if list(rows) != ascending:
            some = masked, cache, ascending, hidden, feature_layers
            states, logits = self.read(tokens, positions, *some)
            back = np.searchsorted(ascending, rows)
            return states[back], logits[back]
        x, inputs = self._inputs(tokens, hidden)
        m, used = len(x), cache.used
        # Keys and values are filled up with zeros to whole blocks.
        block = cache.numbers(used + m, self.kv_heads, -(-self.width // BLOCK) * BLOCK)
        window_masked = cache.window_mask(positions, masked, self.window)
        places, selected = np.array(positions, np.int64), np.array(rows, np.int64)
        features = np.empty((len(rows), len(feature_layers), x.shape[1]), x.dtype)
        states = np.empty((len(rows), x.shape[1]), x.dtype)
        logits = np.empty((len(rows), self.vocabulary), np.float32)
        feature_of = np.full(len(self.layer_ids) + 1, -1)
        feature_of[list(feature_layers)] = range(len(feature_layers))
        for layers, layer_ids, model in self._groups():
            is_last = layers.stop == len(self.layer_ids)
            for start in range(0, m, TOKENS_PER_CALL):
                end = min(m, start + TOKENS_PER_CALL)
                here = slice(bisect_left(rows, start), bisect_left(rows, end))
                call = kernels.Tokens(
                    x[start:end],
                    inputs[start:end],
                    places[start:end],
                    _mask_of(masked, m, start, end),
                    _mask_of(window_masked, m, start, end),
                    block[2 * layers.start : 2 * layers.stop],
                    used + start,
                )
                output = kernels.Output(
                    selected[here] - start,
                    features[here],
                    feature_of[layers.start : layers.stop + 1],
                    states[here],
                    logits[here] if is_last else logits[:0],
                )
                self._run(layer_ids, model, call, output)
        return np.concatenate([features.reshape(len(rows), -1), states], axis=1), logits

    def _inputs(
        self, tokens: Sequence[int], hidden: torch.Tensor | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """What `Tokens.x` and `Tokens.inputs` are."""
        x = self.rows[tokens]
        if hidden is None:
            return x, x[:0]
        return np.empty_like(x), np.concatenate([raw(hidden), x], axis=1)

    def _groups(self) -> Iterator[tuple[slice, np.ndarray, kernels.Model]]:
        """What one call goes through: all layers in memory, or one after the other from disk.

        Returns:
            Which layers, their places in the weights, and the model with these weights.
        """
        if self.stream is None:
            yield slice(0, len(self.layer_ids)), self.layer_ids, self.model
            return
        for layer, weights in enumerate(self.stream):
            here = slice(layer, layer + 1)
            model = self.model._replace(
                layers=weights,
                first_turns=self.model.first_turns[here],
                is_windowed=self.model.is_windowed[here],
            )
            yield here, self.layer_ids[:1], model

    def logits(self, states: torch.Tensor) -> np.ndarray:
        """Float32 logits of last hidden states after the final norm, [n, width]."""
        x = raw(states)
        logits, none = np.empty((len(x), self.vocabulary), np.float32), np.empty(0, np.int64)
        keys, unmasked = np.empty((0, 1, 1, 1), np.float32), np.empty((0, 0), bool)
        call = kernels.Tokens(x[:0], x[:0], none, unmasked, unmasked, keys, 0)
        output = kernels.Output(none, x[:0, None], np.array([-1]), x, logits)
        self._run(none, self.model, call, output)
        return logits

    def _run(
        self,
        layer_ids: np.ndarray,
        model: kernels.Model,
        tokens: kernels.Tokens,
        output: kernels.Output,
    ) -> None:
        m, width, x = len(tokens.x), self.heads * self.width, tokens.x
        qkv = np.empty((m, width + 2 * self.kv_heads * self.width), x.dtype)
        mixed, gate = np.empty((m, width), x.dtype), np.empty((m, self.mlp), x.dtype)
        phases = kernels.PHASES * len(layer_ids) + kernels.LAST_PHASES
        counters = np.zeros(2 * phases + 1, np.int64)
        is_long = self.size * (m + READING) > ONE_THREAD
        helpers = min(torch.get_num_threads(), CHUNKS) - 1 if is_long else 0
        buffers = kernels.Buffers(qkv, mixed, gate, np.empty_like(x))
        run_with_helpers(
            kernels.forward, helpers, counters, layer_ids, model, tokens, output, buffers
        )


class CompiledHead(CompiledPasses):
    """The passes of a layer that attends with an embedding beside a hidden state, each normed, and
    adds to the hidden state (EAGLE-3).

    Args:
        direct: as for `CompiledPasses`; its layers have no norm of inputs.
        embedding_norm, hidden_norm: weights of both norms, [width].
        adds_to_normed: whether it adds to the normed hidden state.
    """

    def __init__(
        self,
        direct: Any,
        embedding_norm: torch.Tensor,
        hidden_norm: torch.Tensor,
        adds_to_normed: bool = False,
    ) -> None:
        super().__init__(direct)
        self.norms = raw(embedding_norm), raw(hidden_norm)
        self.adds_to_normed = adds_to_normed

    def _inputs(
        self, tokens: Sequence[int], hidden: torch.Tensor | None
    ) -> tuple[np.ndarray, np.ndarray]:
        assert hidden is not None
        given = self.rows[tokens], raw(hidden).copy()  # what it adds to is written over
        normed = [np.empty_like(x) for x in given]
        for x, norm, out in zip(given, self.norms, normed, strict=True):
            normalise_rows(x, norm, self.model.eps, out)
        state = normed[1].copy() if self.adds_to_normed else given[1]
        return state, np.concatenate(normed, axis=1)


def _mask_of(masked: np.ndarray | None, m: int, start: int, end: int) -> np.ndarray:
    """The part of a mask, bool [m, w], of the tokens from `start` to `end`, which see none behind
    them."""
    if masked is None:
        return np.ascontiguousarray(CAUSAL[: end - start, : end - start])
    return np.ascontiguousarray(masked[start:end, : masked.shape[1] - m + end])
