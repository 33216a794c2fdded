"""Small passes on a CPU in one compiled call, with weights laid out for it.

Through torch a layer of a small model is some thirty calls, each of which takes longer than its arithmetic once the
target's weights have gone through the processor's caches; and a product of a few rows reads its weights at a third of
the memory's speed. Here a pass is one call (`kernels.py`), which does both at once; a long pass is several calls. Other
devices and types of numbers take torch's way (`direct.py`); the self-test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from . import kernels
from .cache import TreeCache
from .dot_products import in_blocks
from .threads import run_with_helpers

MOST = 64  # tokens of a call
MOST_BYTES = 1 << 29  # of a model's weights, which are held twice
# A pass is over before another thread could help up to so many bytes of weights times tokens, where reading the weights
# counts as much as computing with them for a few tokens.
ALONE, READING = 3 << 24, 4
TYPES = (torch.bfloat16, torch.float32)  # of weights


def raw(tensor: torch.Tensor) -> np.ndarray:
    """The numbers of a tensor on a CPU as numpy and numba see them: bfloat16 as the int16 of its bits."""
    tensor = tensor.detach().contiguous()
    return (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()


def worth_compiling(model: torch.nn.Module) -> bool:
    """Whether a model computes on a CPU in a type that these passes know, and is small enough to be held twice."""
    weights = list(model.parameters())
    known = all(weight.device.type == "cpu" and weight.dtype in TYPES for weight in weights)
    alike = len({weight.dtype for weight in weights}) == 1
    even = all(weight.shape[1] % 2 == 0 for weight in weights if weight.ndim == 2)
    return known and alike and even and sum(weight.nbytes for weight in weights) <= MOST_BYTES


class CompiledPasses:
    """The passes of one model.

    Args:
        direct: its `DirectForward`, whose weights are laid out.
    """

    def __init__(self, direct: Any) -> None:
        self.heads, self.kv_heads, self.width = direct.heads, direct.kv_heads, direct.width
        self.embed, self.table = direct.embed, direct.rotary[:, :, 0].contiguous().numpy()
        self.scale, self.eps = float(direct.layers[0].scale), float(direct.norm.eps)
        self.rows = raw(self.embed)
        self.kept = np.arange(len(direct.layers))
        self.lay_out(direct)
        self.join = self.weights[-2][:0]

    def lay_out(self, direct: Any) -> None:
        """Read the weights as they are now."""
        layers = direct.layers
        self.mlp, self.vocabulary = layers[0].down.weight.shape[1], len(direct.head.weight)
        none = np.empty(0, raw(layers[0].before.weight).dtype)

        def every(numbers: Any) -> np.ndarray:
            return np.stack([numbers(layer) for layer in layers])

        def bias(product: Any) -> np.ndarray:
            return none if product.bias is None else raw(product.bias)

        def gate_up(layer: Any) -> np.ndarray:
            gate, up = (in_blocks(raw(part)) for part in layer.gate_up.weight.chunk(2))
            return np.stack([gate, up], axis=1).reshape(-1, *gate.shape[1:])

        self.weights = (
            every(lambda layer: raw(layer.before.weight)),
            every(lambda layer: in_blocks(raw(layer.qkv.weight))), every(lambda layer: bias(layer.qkv)),
            every(lambda layer: in_blocks(raw(layer.out.weight))), every(lambda layer: bias(layer.out)),
            every(lambda layer: raw(layer.after.weight)),
            every(gate_up), every(lambda layer: bias(layer.gate_up)),
            every(lambda layer: in_blocks(raw(layer.down.weight))), every(lambda layer: bias(layer.down)),
            raw(direct.norm.weight), in_blocks(raw(direct.head.weight)), bias(direct.head),
        )  # fmt: skip
        self.size = sum(part.nbytes for part in self.weights)

    def of(self, kept: Sequence[int]) -> CompiledPasses:
        """The passes of the same model with some of its layers; no weight is copied."""
        some = object.__new__(CompiledPasses)
        vars(some).update(vars(self), kept=self.kept[list(kept)])
        return some

    def after(self, join: torch.Tensor, target: CompiledPasses) -> CompiledPasses:
        """The passes of a layer that reads a target's features beside its embeddings, with the target's output head.

        Args:
            join: what makes the layer's input of both, [width, 2 * width].
            target: the target's passes.
        """
        some = object.__new__(CompiledPasses)
        vars(some).update(vars(self), rows=target.rows, vocabulary=target.vocabulary, join=in_blocks(raw(join)))
        some.weights = (*self.weights[:-2], *target.weights[-2:])
        some.size = some.join.nbytes + sum(part.nbytes for part in some.weights)
        return some

    def takes(self, cache: Any) -> bool:
        """Whether a pass is one of these: over one text with a cache of its own."""
        return type(cache) is TreeCache

    def read(
        self, tokens: Sequence[int], positions: Sequence[int], hidden: np.ndarray | None, cache: TreeCache,
        rows: Sequence[int], threads: int, features: torch.Tensor | None = None,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """One pass; the cache's slots behind those in use are written.

        Args:
            tokens: to read, [m].
            positions: where they stand in the text, [m].
            hidden: which of the last slots each token must not see, bool [m, w]; None for a plain causal run.
            cache: where keys and values are.
            rows: which of the m tokens are wanted.
            threads: how many may work on it.
            features: beside the tokens, [m, width], for passes made by `after`.

        Returns:
            Last hidden states after the final norm, [len(rows), width], for `states`, and float32 logits,
            [len(rows), V].
        """
        x = self.rows[tokens]
        given = x[:0]
        if features is not None:
            given, x = np.concatenate([raw(features), x], axis=1), np.empty_like(x)
        m, used = len(x), cache.used
        block = cache.numbers(used + m, self.kv_heads, self.width)
        where, wanted = np.array(positions, np.int64), np.array(rows, np.int64)
        states = np.empty((len(rows), x.shape[1]), x.dtype)
        found = np.empty((len(rows), self.vocabulary), np.float32)
        for start in range(0, m, MOST):
            end = min(m, start + MOST)
            part = slice(start, end)
            here = slice(None) if m <= MOST else np.flatnonzero((wanted >= start) & (wanted < end))
            if hidden is None:
                unseen = ~np.tri(end - start, dtype=bool)
            else:  # no token sees what is read after it
                unseen = np.ascontiguousarray(hidden[part, : hidden.shape[1] - m + end])
            some, logits = states[here], found[here]  # views of all, or copies
            self._run(
                given[part], x[part], where[part], unseen, wanted[here] - start, self.kept, block, used + start, some,
                logits, threads,
            )  # fmt: skip
            if m > MOST:
                states[here], found[here] = some, logits
        return states, found

    def states(self, numbers: np.ndarray) -> torch.Tensor:
        """States as a tensor."""
        return torch.from_numpy(numbers).view(self.embed.dtype)

    def head(self, states: torch.Tensor) -> np.ndarray:
        """Float32 logits of last hidden states after the final norm, [n, width]."""
        found, none = np.empty((len(states), self.vocabulary), np.float32), np.empty(0, np.int64)
        block, hidden = np.empty((0, self.kv_heads, 1, self.width), np.float32), np.empty((0, 0), bool)
        given = raw(states)
        self._run(given[:0], given, none, hidden, none, none, block, 0, given, found, torch.get_num_threads())
        return found

    def _run(self, given, x, positions, hidden, rows, kept, block, used, states, logits, threads) -> None:
        m, width = len(x), self.heads * self.width
        qkv, mixed, gate = (
            np.empty((m, size), x.dtype) for size in (width + 2 * self.kv_heads * self.width, width, self.mlp)
        )
        counters = np.zeros(2 * (5 * len(kept) + 3), np.int64)
        helpers = min(threads, kernels.PIECES) - 1 if self.size * (m + READING) > ALONE else 0
        run_with_helpers(
            kernels.forward, helpers,
            counters, given, self.join, x, positions, hidden, rows, kept, block, used, self.table, self.scale, self.eps,
            *self.weights, qkv, mixed, gate, states, logits,
        )  # fmt: skip
