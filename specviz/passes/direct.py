"""The forward pass of Llama-like models, called directly: the same arithmetic as transformers',
without its overhead.

At the sizes of the bundled pair a transformers forward takes about twice as long as its arithmetic.
Here

- query, key and value are one matrix product, gate and up another;
- rotary embeddings are one table for queries and keys, and the cache is written in place;
- on a CPU, half precision attends in float32, a third of the time, and small passes are compiled
    (`compiled/`).

`direct_forward` returns None for an architecture that is not supported; the self-test of a pair
(`models/selftest.py`) returns to transformers' forward where the logits differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

import torch
import torch.nn.functional as F
from torch.nn.functional import scaled_dot_product_attention
from transformers import PreTrainedModel

from .compiled import compiler_for
from .families import ACTIVATIONS, activation_of, is_known, rotary_kinds
from .layers import Layer, adds_one, fuse, norm_weight, window_of

if TYPE_CHECKING:
    from .compiled.passes import CompiledPasses


class Layers(Protocol):
    """The layers of a model, in order: a list, or a stream from disk."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[Layer]: ...


class Cache(Protocol):
    """Where a pass writes keys and values: a `TreeCache`, or a block of fixed shape."""

    def update(
        self, keys: torch.Tensor, values: torch.Tensor, layer: int, /
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write those of one layer, [1, heads, new, width], and return all that it sees."""


class DirectForward:
    """A Llama-like model's forward pass over given tokens, positions and mask.

    Args:
        model: the transformers model, of which only embeddings, final norm and output head need to
            be in memory.
        layers: its layers, in memory or from disk.

    Attributes:
        kv_dtype: the type of keys and values, in which it attends.
        window: how many tokens back layers with a sliding window see; None without such layers.
        is_windowed: for each layer whether it has that window.
        first_turns: for each layer the row of `rotary` that belongs to position 0; -1 for a layer
            without rotary embeddings.
        activation: of the gated part, one of `ACTIVATIONS`.
        embed_scale: what embeddings are multiplied by; None for nothing.
        compiled: its small passes as compiled calls; None where it has none.
    """

    hidden_width = 0  # it reads no hidden states beside the tokens

    def __init__(self, model: PreTrainedModel, layers: Layers) -> None:
        config = model.config
        self.model = model
        self.layers = layers
        self.depth = len(layers)
        self.heads = config.num_attention_heads
        self.kv_heads = config.num_key_value_heads
        self.width = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.mlp = config.intermediate_size
        attentions = [layer.self_attn for layer in model.model.layers]
        self.window = window_of(config)
        # Layers say so themselves where only some of them have a window.
        self.is_windowed = [
            bool(getattr(part, "sliding_window", self.window)) for part in attentions
        ]
        self.scale = attentions[0].scaling
        self.eps = config.rms_norm_eps
        self.activation = activation_of(config)
        self.embed = model.get_input_embeddings().weight
        scale = getattr(model.get_input_embeddings(), "scalar_embed_scale", None)
        self.embed_scale = None if scale is None else self.embed.new_tensor(scale)
        self.norm = norm_weight(model.model.norm, model.model.norm.weight)
        self.head = model.lm_head
        half_precision = self.embed.is_cpu and self.embed.dtype.itemsize < 4
        self.kv_dtype = torch.float32 if half_precision else self.embed.dtype
        kinds = list(rotary_kinds(config))
        length = config.max_position_embeddings
        self.rotary = torch.cat([self._rotary(length, kind) for kind in kinds])
        self.first_turns = []
        for part in attentions:
            kind = config.layer_types[part.layer_idx] if len(kinds) > 1 else kinds[0]
            first = length * kinds.index(kind)
            self.first_turns.append(first if getattr(part, "use_rope", True) else -1)
        self.compiled: CompiledPasses | None = None

    def of(self, layer_ids: Sequence[int], model: PreTrainedModel) -> DirectForward | None:
        """The same with some of its layers, in memory; `model` is a shortened copy of this one's
        and has no others."""
        # All of them once, in order: a stream from disk has no other way.
        layers = list(self.layers)
        some = DirectForward(model, [layers[layer] for layer in layer_ids])
        some.compiled = self.compiled and self.compiled.of(layer_ids)
        return some

    def each_layer(self) -> Iterable[Layer]:
        """The weights of the layers, one after the other, in the model's number format."""
        return self.layers

    def refresh_weights(self) -> None:
        """Follow weights that were changed in place."""
        if adds_one(self.model.model.norm):  # what norms multiply by is no view of them
            self.layers = list(map(fuse, self.model.model.layers))
            self.norm = norm_weight(self.model.model.norm, self.model.model.norm.weight)
        if self.compiled is not None:
            self.compiled.lay_out(self)

    def _rotary(self, length: int, kind: str | None) -> torch.Tensor:
        """cos and sin for every position, [length, 2, 1, width]; the first half of sin is negative.

        With that sign, turning a vector is v cos + roll(v) sin, the products that transformers
        forms.

        Args:
            length: how many positions.
            kind: of the layers, where kinds of layers turn by different angles.
        """
        positions = torch.arange(length, device=self.embed.device)[None]
        of_kind = [] if kind is None else [kind]
        cos, sin = self.model.model.rotary_emb(self.embed, positions, *of_kind)
        # The rolled vector has its halves swapped, and the first of them with the other sign.
        half = sin.shape[-1] // 2
        sin = torch.cat([-sin[..., :half], sin[..., half:]], dim=-1)
        return torch.stack([cos[0], sin[0]], dim=1)[:, :, None].to(self.kv_dtype)

    def states(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor | None,
        cache: Cache,
        rows: torch.Tensor | None,
        window_mask: torch.Tensor | None = None,
        inputs: dict[int, torch.Tensor | None] | None = None,
    ) -> torch.Tensor:
        """Last hidden states after the final norm, [len(rows), width]: what the output head is
        applied to.

        Args:
            ids, positions: the tokens to read and where they stand, [m]; instead of tokens also
                embeddings, [m, width].
            mask: additive, of the type `kv_dtype`, [1, 1, m, slots + m]; None for a causal run in
                an empty cache.
            cache: where keys and values are.
            rows: which tokens need logits; None for all.
            window_mask: as `mask`, of layers with a window.
            inputs: by the number of a layer where to put its input at `rows`, [len(rows), width].
        """
        m = len(ids)
        heads = self.heads
        kv_heads = self.kv_heads
        width = self.width
        # Angles of every position in one gather, once for all layers; some families turn by several
        # sets of angles, so there is one for each set that a layer names.
        turns = {}
        for first in set(self.first_turns) - {-1}:
            turns[first] = self.rotary.index_select(0, positions + first).unbind(1)
        x = ids
        if not ids.is_floating_point():
            x = self.embed.index_select(0, ids)
            if self.embed_scale is not None:
                x = x * self.embed_scale
        for index, w in enumerate(self.layers):
            # A head reads what goes into the layer, before its norm, as transformers'
            # `output_hidden_states` has it.
            if inputs and index in inputs:
                inputs[index] = x if rows is None else x.index_select(0, rows)
            qkv = F.linear(self._normed(x, w.input_norm), w.qkv, w.qkv_bias)
            if w.q_norm is not None:
                sizes = [heads * width, kv_heads * width, kv_heads * width]
                q, k, v = qkv.split_with_sizes(sizes, -1)
                # A norm is of a head's width, or of that of all heads.
                q = rms_norm(q.unflatten(-1, (-1, len(w.q_norm))), w.q_norm, self.eps).flatten(-2)
                k = rms_norm(k.unflatten(-1, (-1, len(w.k_norm))), w.k_norm, self.eps).flatten(-2)
                qkv = torch.cat([q, k, v], dim=-1)
            qkv = qkv.view(1, m, heads + 2 * kv_heads, width)
            qk, v = qkv.to(self.kv_dtype).split_with_sizes([heads + kv_heads, kv_heads], 2)
            if self.first_turns[index] >= 0:
                cos, sin = turns[self.first_turns[index]]
                # Rotation as v cos + roll(v) sin; the sign of the rolled half is in the table.
                qk = torch.addcmul(qk * cos, qk.roll(width // 2, -1), sin)
            q, k = qk.transpose(1, 2).split_with_sizes([heads, kv_heads], 1)
            k, v = cache.update(k, v.transpose(1, 2), index)
            # The cache first: what is attended to includes the keys that this pass has just
            # written.
            seen = mask
            if self.is_windowed[index]:
                seen = window_mask
            mixed = attend(q, k, v, seen, seen is None and m > 1, self.scale)
            mixed = mixed.transpose(1, 2).reshape(m, -1).to(x.dtype)
            # Some families norm what is added to the hidden state, others what is read of it; a
            # norm that a layer lacks is None.
            x = x + self._normed(F.linear(mixed, w.output, w.output_bias), w.output_norm)
            gate_up = F.linear(self._normed(x, w.mlp_norm), w.gate_up, w.gate_up_bias)
            gate, up = gate_up.chunk(2, dim=-1)
            gated = ACTIVATIONS[self.activation](gate).mul_(up)
            x = x + self._normed(F.linear(gated, w.down, w.down_bias), w.down_norm)
        return rms_norm(x if rows is None else x.index_select(0, rows), self.norm, self.eps)

    def read_static(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor,
        cache: Cache,
        rows: torch.Tensor,
        hidden: torch.Tensor,
        layers: tuple[int, ...] | None,
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Logits and features of a pass of fixed shape, as `graphs.Forward` describes them."""
        inputs = dict.fromkeys(layers or ())
        states = self.states(ids, positions, mask, cache, rows, inputs=inputs)
        features = states[:, :0]
        if layers is not None:
            features = torch.cat([*inputs.values(), states], dim=-1)
        return self.head(states), features

    def _normed(self, x: torch.Tensor, norm: torch.Tensor | None) -> torch.Tensor:
        """x, or its norm where a layer has one there."""
        if norm is None:
            return x
        return rms_norm(x, norm, self.eps)


def attend(
    q: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    mask: torch.Tensor | None,
    causal: bool,
    scale: float,
) -> torch.Tensor:
    """Scaled dot-product attention, [1, heads, m, width].

    Args:
        q: queries, [1, heads, m, width].
        k, v: keys and values, [1, key heads, slots, width]; the number of key heads divides that of
            heads.
        mask: additive, [1, 1, m, slots]; None for none.
        causal: whether each query sees only the slots up to its own; without a mask.
        scale: factor of the products.
    """
    # How many heads of queries share one of keys.
    group = q.shape[1] // k.shape[1]
    if mask is None or group == 1:
        return scaled_dot_product_attention(
            q, k, v, attn_mask=mask, is_causal=causal, scale=scale, enable_gqa=group > 1
        )
    # Fused kernels want as many heads of queries as of keys. So the query heads that share a key
    # head become one head with more queries.
    q_in_line = q.reshape(1, k.shape[1], -1, q.shape[3])
    mask = mask.repeat(1, 1, group, 1)
    return scaled_dot_product_attention(q_in_line, k, v, attn_mask=mask, scale=scale).reshape(
        q.shape
    )


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """x / rms(x) * weight, in one call; by a weight in float32 (Gemma's) it is rounded once, behind
    the product."""
    if x.dtype == weight.dtype:
        return torch.rms_norm(x, weight.shape, weight, eps)
    x32 = x.float()
    normed = x32 * torch.rsqrt(x32.pow(2).mean(-1, keepdim=True) + eps)
    return (weight * normed).to(x.dtype)


def direct_forward(model: PreTrainedModel) -> DirectForward | None:
    """A direct forward of `model`, None if its architecture is not supported."""
    if not is_known(model):
        return None
    compiler = compiler_for(model)
    if compiler:  # the weights become copies, so that the memory-mapped file can be released
        for weight in model.parameters():
            weight.data = weight.data.clone()
    with torch.inference_mode():
        direct = DirectForward(model, list(map(fuse, model.model.layers)))
        direct.compiled = compiler and compiler.CompiledPasses(direct)
        return direct
