"""One pass over several texts, each with its own keys and values: what an engine does for many users.

The tokens of all texts stand in one row, so that a pass reads the weights once for all of them. Keys and values lie in
one block, a row for each text, and attention is one call, in which every token sees its own text alone. Only there are
texts with fewer tokens padded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F

from .attention import in_line
from .cache import CHUNK, TreeCache
from .device_logits import push


class Ask(NamedTuple):
    """What one text asks of a pass; as the arguments of `HuggingFaceModel.read`."""

    ids: Sequence[int]
    positions: Sequence[int]
    hidden: np.ndarray | None
    cache: TextCache
    rows: Sequence[int]
    features: list[torch.Tensor] | None = None


class Block:
    """The keys and values of several texts in one tensor, [2 * layers, texts, heads, slots, width]; keys are even.

    Args:
        layers: how many attention layers the model has.
        texts: how many texts; `caches` has the cache of each.
    """

    def __init__(self, layers: int, texts: int) -> None:
        self.caches = [TextCache(layers, self, row) for row in range(texts)]
        self.layers, self.slots = layers, 0
        self.tensor: torch.Tensor

    def reserve(self, keys: torch.Tensor, slots: int) -> None:
        """Have at least so many slots a text; `keys`, [..., heads, tokens, width], say of what form and kind."""
        if slots <= self.slots:
            return
        (heads, _, width), before = keys.shape[-3:], self.slots
        self.slots = -(-slots // CHUNK) * CHUNK
        # Zeros, because a masked slot must still be a finite number.
        grown = keys.new_zeros(2 * self.layers, len(self.caches), heads, self.slots, width)
        if before:
            grown[:, :, :, :before] = self.tensor
        self.tensor = grown
        for row, cache in enumerate(self.caches):
            cache._block = grown[:, row : row + 1]


class TextCache(TreeCache):
    """One text's row of a block; to its session it is a cache like any other."""

    def __init__(self, layers: int, block: Block, row: int) -> None:
        super().__init__(layers)
        self.block, self.row = block, row

    def _grow(self, keys: torch.Tensor, values: torch.Tensor, slots: int) -> torch.Tensor:
        if keys.shape != values.shape:
            raise ValueError("keys and values must have the same shape; this model's differ. Choose another model.")
        self.block.reserve(keys, slots)
        assert self._block is not None
        return self._block


class SeveralTexts(TreeCache):
    """The caches of several texts in one pass, and the attention of their tokens.

    Args:
        asks: one of each text, in the order of their rows in the block.
        dtype, device: of keys and values.
        in_a_row: whether the pass has the tokens of all texts in a row, as the direct forward has.

    Attributes:
        padded: token ids and positions of the texts, each as long as the longest, [2, texts, m].
    """

    def __init__(self, asks: Sequence[Ask], dtype: torch.dtype, device: torch.device, in_a_row: bool) -> None:
        self.in_a_row = in_a_row
        self.block = asks[0].cache.block
        super().__init__(self.block.layers)
        counts, used = [len(ask.ids) for ask in asks], [ask.cache.used for ask in asks]
        self.texts, self.most = len(asks), max(counts)
        self.end = max(begin + count for begin, count in zip(used, counts, strict=True))
        self.even = min(counts) == self.most
        places = np.concatenate([np.arange(count) for count in counts])
        texts = np.repeat(np.arange(len(asks)), counts)
        rows = np.array([ask.cache.row for ask in asks])
        self.all_rows = len(rows) == len(self.block.caches)
        self.rows = push(rows, device)
        # Where each token of the pass stands: its text, its place among the text's tokens, its row and slot.
        self.text, self.place, self.row, self.slot = push(
            np.stack([texts, places, rows[texts], np.array(used)[texts] + places]), device
        )
        hidden = np.ones((self.texts, 1, self.most, self.end), dtype=bool)
        for text, (ask, begin, count) in enumerate(zip(asks, used, counts, strict=True)):
            hidden[text, 0, :count, : begin + count] = unseen(ask.hidden, begin, count)
            hidden[text, 0, count:, 0] = False  # padding sees something, or it would be no number
        self.mask = torch.zeros(hidden.shape, dtype=dtype, device=device)
        self.mask.masked_fill_(push(hidden, device), torch.finfo(dtype).min)
        padded = np.zeros((2, self.texts, self.most), dtype=np.int64)
        padded[:, texts, places] = [np.concatenate([ask[part] for ask in asks]) for part in (0, 1)]
        self.padded = push(padded, device)

    def read(self, model: Any, keep: torch.Tensor) -> tuple[torch.Tensor | None, torch.Tensor]:
        """The pass: last hidden states, [len(keep), width], where the direct forward gives them, and logits there.

        Args:
            model: the weights.
            keep: which of all tokens in a row need logits.
        """
        ids, positions = self.padded
        ids = ids.clamp(max=model.embeddings - 1)  # a token that the model cannot know is read as its last one
        if model.direct is not None:
            ids, positions = (part[self.text, self.place] for part in (ids, positions))
            states = model.direct.states(ids, positions, self, self, keep)
            return states, model.direct.head(states)
        output = model.model(
            input_ids=ids, position_ids=positions, attention_mask=self.mask, past_key_values=self, use_cache=True
        )
        return None, output.logits[self.text, self.place][keep]

    def attend(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, scale: float) -> torch.Tensor:
        """Let every token attend to its own text.

        Args:
            q: queries of all tokens in a row, [1, heads, tokens, width].
            k, v: keys and values of each text, [texts, key heads, slots, width].
            scale: factor of the products.

        Returns:
            What they attended to, [1, heads, tokens, width].
        """
        if self.even:
            apart = q[0].unflatten(1, (self.texts, self.most)).transpose(0, 1)
        else:
            apart = q.new_zeros(self.texts, self.most, q.shape[1], q.shape[3])
            apart[self.text, self.place] = q[0].transpose(0, 1)
            apart = apart.transpose(1, 2)
        shared = apart.shape[1] != k.shape[1]
        if apart.is_cuda and shared:
            mixed = in_line(apart, k, v, self.mask, scale)
        else:
            mixed = F.scaled_dot_product_attention(apart, k, v, attn_mask=self.mask, scale=scale, enable_gqa=shared)
        if self.even:
            return mixed.transpose(0, 1).flatten(1, 2)[None]
        return mixed.transpose(1, 2)[self.text, self.place].transpose(0, 1)[None]

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args, **kwargs) -> Any:
        """Write one layer's keys and values, [1, heads, tokens, width]; all in use, [texts, heads, slots, width].

        Transformers' own forward keeps texts apart: there they are [texts, heads, m, width].
        """
        if self.in_a_row:
            return self._write(key_states[0].transpose(0, 1), value_states[0].transpose(0, 1), layer_idx)
        keys, values = (states.transpose(1, 2)[self.text, self.place] for states in (key_states, value_states))
        return self._write(keys, values, layer_idx)

    def _write(self, keys: torch.Tensor, values: torch.Tensor, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Put keys and values, [tokens, heads, width], into their slots; all in use, [texts, heads, slots, width]."""
        if keys.shape != values.shape:
            raise ValueError("keys and values must have the same shape; this model's differ. Choose another model.")
        self.block.reserve(keys.transpose(0, 1), self.end)
        found = []
        for new, whole in ((keys, self.block.tensor[2 * layer]), (values, self.block.tensor[2 * layer + 1])):
            whole[self.row, :, self.slot] = new
            found.append(whole[:, :, : self.end] if self.all_rows else whole[self.rows, :, : self.end])
        return found[0], found[1]


def unseen(hidden: Any, begin: int, count: int) -> np.ndarray:
    """Which slots each of `count` tokens behind `begin` slots must not see, bool [count, begin + count].

    Args:
        hidden: that, or a mask that knows it (`whole`); None for a causal run.
        begin, count: slots in use before the pass, and tokens of it.
    """
    if hidden is None:
        return np.arange(begin + count) > begin + np.arange(count)[:, None]
    return hidden.whole(begin + count) if hasattr(hidden, "whole") else hidden


def new_block(model: Any, texts: int) -> Block:
    """Empty caches of a `HuggingFaceModel` for several texts that are read together.

    Raises:
        ValueError: if the model is spread over several devices.
    """
    if model.spread:
        raise ValueError("texts can be read together by a model on one device only. Omit offload.")
    return Block(model.layers, texts)


def read_together(model: Any, asks: Sequence[Ask]) -> list[Any]:
    """One forward pass of a `HuggingFaceModel` over several texts.

    Args:
        model: the weights.
        asks: one of each text, with a cache of one block.

    Returns:
        For each text the logits at its rows, as `HuggingFaceModel.read` returns them.

    Raises:
        ValueError: if hidden states are asked for that only the direct forward gives.
    """
    order = sorted(range(len(asks)), key=lambda text: asks[text].cache.row)
    asks = [asks[text] for text in order]
    if model.direct is None and any(ask.features is not None for ask in asks):
        raise ValueError("a drafter that reads hidden states needs a Llama-like target to decode several texts.")
    counts = [len(ask.ids) for ask in asks]
    ends = np.cumsum([len(ask.rows) for ask in asks]).tolist()
    rows = np.concatenate([
        first + np.asarray(ask.rows, dtype=np.int64)
        for first, ask in zip(np.cumsum([0, *counts[:-1]]), asks, strict=True)
    ])  # fmt: skip
    with torch.inference_mode(), model.threads(sum(counts)):
        held = getattr(model.direct, "held", model.dtype)  # the type of keys and values may be wider than the model's
        together = SeveralTexts(asks, held, model.device, model.direct is not None)
        states, logits = together.read(model, push(rows, model.device))
        parts = [slice(begin, end) for begin, end in zip([0, *ends[:-1]], ends, strict=True)]
        for ask, count, part in zip(asks, counts, parts, strict=True):
            ask.cache.used += count
            if ask.features is not None and states is not None:
                ask.features.append(states[part])
        whole = None if model.lazy else model.handed_over(logits)
        found = [model.handed_over(logits[part]) if whole is None else whole[part] for part in parts]
    return [found[order.index(text)] for text in range(len(asks))]
