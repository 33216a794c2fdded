"""EAGLE-3's head (Li et al. 2025): from hidden states of three of the target's layers and the next
token to the token after it.

Place j of a text joins the states at token j, brought to one by `fc`, with the embedding of token
j + 1; below the root the state is the head's own guess at the parent. It has a vocabulary of its
own, of the target's most frequent tokens.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from ...passes.cache import Pass, TreeCache, additive_mask
from ...passes.compiled import compiler_for
from ...passes.device_logits import push
from ...passes.direct import Cache, attend
from ...passes.graphs import StaticPasses, cuda_graphs
from ...passes.huggingface import HuggingFaceModel, HuggingFaceSession
from ...passes.layers import read_layer
from ...sampling.distributions import Logits
from .draft_logits import DraftLogits, on_target_vocabulary
from .eagle import EagleSession
from .eagle3_head import Eagle3Head, rotary_table
from .format import HeadFormat

if TYPE_CHECKING:
    from ...passes.compiled.passes import CompiledHead


def attention_dtype(target: HuggingFaceModel) -> torch.dtype:
    """The type in which a head attends: on a CPU float32, which is faster than half precision."""
    if target.device.type == "cpu" and target.dtype.itemsize < 4:
        return torch.float32
    return target.dtype


class Eagle3Model:
    """A head that reads the trees of a target.

    Args:
        head, form: its weights and what they are.
        target: the target, whose `feature_layers` are those that the head reads.
        ids: the target's id of each draft token, [draft vocabulary].
        embeddings: what its tokens are embedded with, [tokens, width].
    """

    def __init__(
        self,
        head: Eagle3Head,
        form: HeadFormat,
        target: HuggingFaceModel,
        ids: Tensor,
        embeddings: Tensor,
    ) -> None:
        self.device = target.device
        self.dtype = target.dtype
        self.lazy = target.lazy
        self.head = head.to(self.device, self.dtype).eval().requires_grad_(False)
        self.embed = embeddings.to(self.device, self.dtype)
        self.vocab_size = target.vocab_size
        self.positions = form.layer.max_position_embeddings
        self.ids = ids.to(self.device)
        # where the states that it reads stand among the target's features
        read = form.feature_layers(target.layers)
        self.parts = [target.feature_layers.index(layer) for layer in read]
        self.kv_dtype = attention_dtype(target)
        self.rotary = rotary_table(form.layer, self.positions, self.kv_dtype).to(self.device)
        self.compiled = compiled_head(self, form)
        # As `graphs.Forward` wants them.
        self.depth = 1
        self.kv_heads = form.layer.num_key_value_heads
        self.width = self.head.head_dim
        self.window: int | None = None
        self.hidden_width = form.layer.hidden_size
        self.static = None
        if self.lazy:
            self.static = StaticPasses(self, cuda_graphs(self.device))

    def open(self, tokens: Sequence[int], target: HuggingFaceSession | None = None) -> EagleSession:
        """A session that starts with `tokens`; see `EagleSession`."""
        return EagleSession(self, tokens)

    def new_cache(self) -> TreeCache:
        """An empty cache for one text."""
        return TreeCache(1)

    @torch.inference_mode()
    def text_states(self, features: Tensor) -> Tensor:
        """The states of a text's tokens, [n, width], from the target's features."""
        states = features.unflatten(-1, (-1, self.head.fc.in_features // len(self.parts)))
        return self.head.text_states(states[:, self.parts].flatten(1).to(self.dtype))

    @torch.inference_mode()
    def read(self, work: Pass) -> tuple[Logits, Tensor]:
        """One pass; `target_hidden` is the state of each token. Returns logits and the guesses at
        the pass's rows."""
        last = len(self.embed) - 1  # a token that it cannot know is read as the last one
        tokens = np.minimum(np.asarray(work.ids, np.int64), last)
        cache = work.cache
        if self.compiled is not None:
            states, logits = self.compiled.read(tokens.tolist(), *work[1:6], (1,))
            # as the layer passes them on, and normed
            passed_on, normed = torch.from_numpy(states).view(self.dtype).chunk(2, dim=1)
            cache.used = work.end
            guesses = normed if "norm_output" in self.head.flags else passed_on
            return DraftLogits(logits, self.ids.numpy(), self.vocab_size), guesses
        done = None
        if self.static is not None:
            done = self.static(work._replace(ids=tokens.tolist()), ())
        if done is None:
            mask = None
            if (masked := work.causal_mask()) is not None:
                mask = additive_mask(masked, work.end, self.kv_dtype, self.device)
            places = push(np.asarray(work.positions, np.int64), self.device)
            rows = push(np.asarray(work.rows), self.device)
            assert work.target_hidden is not None
            ids = push(tokens, self.device)
            done = self.read_static(ids, places, mask, cache, rows, work.target_hidden, ())
        logits, guesses = done
        cache.used = work.end
        return self._on_target_vocabulary(logits), guesses

    def read_static(
        self,
        ids: Tensor,
        positions: Tensor,
        mask: Tensor | None,
        cache: Cache,
        rows: Tensor,
        hidden: Tensor,
        layers: tuple[int, ...] | None,
    ) -> tuple[Tensor, Tensor]:
        """Logits of the draft's tokens, and the guesses, at `rows`; as `graphs.Forward` describes
        it."""
        cos, sin = self.rotary[:, positions]
        states = hidden[None]
        q, k, v = self.head.queries_keys_values(self.embed[ids][None], states, cos, sin)
        k, v = cache.update(k, v, 0)
        mixed = attend(q, k, v, mask, mask is None and len(ids) > 1, self.head.scale)
        guesses = self.head.next_states(states, mixed)[0, rows]
        return self.head.logits(guesses), guesses

    @torch.inference_mode()
    def logits_of(self, states: Tensor) -> DraftLogits:
        """Logits over the target's vocabulary, [n, V], of guessed states [n, width]."""
        return self._on_target_vocabulary(self.head.logits(states))

    def _on_target_vocabulary(self, logits: Tensor) -> DraftLogits:
        return on_target_vocabulary(logits, self.ids, self.vocab_size, self.lazy)


def compiled_head(model: Eagle3Model, form: HeadFormat) -> CompiledHead | None:
    """The passes of a head as compiled calls; None where torch serves."""
    head = model.head
    compiler = compiler_for(head)
    if compiler is None:
        return None
    layer = head.midlayer
    parameters = dict(layer.named_parameters())
    weights = read_layer(layer, lambda name: parameters[name])
    cos, sin = model.rotary
    low, high = sin.chunk(2, dim=-1)
    signed = torch.cat([-low, high], dim=-1)
    direct = SimpleNamespace(
        heads=form.layer.num_attention_heads,
        kv_heads=form.layer.num_key_value_heads,
        width=head.head_dim,
        mlp=form.layer.intermediate_size,
        embed=model.embed,
        layers=[weights._replace(input_norm=weights.input_norm[:0])],  # both inputs are normed
        window=None,
        head=head.lm_head,
        norm=head.norm.weight,
        rotary=torch.stack([cos, signed], dim=1)[:, :, None],
        embed_scale=None,
        first_turns=[0],
        activation="silu",
        is_windowed=[False],
        scale=head.scale,
        eps=head.eps,
    )
    norms = layer.input_layernorm.weight, layer.hidden_norm.weight
    return compiler.CompiledHead(direct, *norms, "norm_before_residual" in head.flags)
