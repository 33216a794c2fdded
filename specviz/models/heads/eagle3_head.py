"""The weights of an EAGLE-3 head (Li et al. 2025) and the arithmetic of its one layer, over any
keys: training unrolls it, and `eagle3.Eagle3Model` reads trees with it.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from transformers import PreTrainedConfig
from transformers.models.llama.modeling_llama import LlamaDecoderLayer, LlamaRotaryEmbedding
from transformers.models.qwen3.modeling_qwen3 import Qwen3DecoderLayer

from ...passes.direct import rms_norm
from .format import HeadFormat

DECODERS: dict[str, type[nn.Module]] = {"llama": LlamaDecoderLayer, "qwen3": Qwen3DecoderLayer}


class Eagle3Head(nn.Module):
    """The weights of a head, named as they are published, and the arithmetic of its layer.

    Args:
        form: its sizes and flags.
        feature_width: numbers that it is given of each token: the states of all its layers.
    """

    def __init__(self, form: HeadFormat, feature_width: int) -> None:
        super().__init__()
        layer = form.layer
        self.flags = form.flags
        width = layer.hidden_size
        self.eps = layer.rms_norm_eps
        self.fc = nn.Linear(feature_width, width, bias=False)
        decoder = DECODERS[layer.model_type](layer, 0)
        # The published layer is an ordinary one but for the width of what it reads.
        attention = decoder.self_attn
        for name in ("q_proj", "k_proj", "v_proj"):  # which read the embedding and the state
            outputs = getattr(attention, name).out_features
            setattr(attention, name, nn.Linear(2 * width, outputs, bias=False))
        decoder.hidden_norm = nn.RMSNorm(width)
        self.midlayer = decoder
        self.norm = nn.RMSNorm(width)
        self.lm_head = nn.Linear(width, form.draft_vocab, bias=False)
        if "norm_before_fc" in self.flags:
            self.input_norm = nn.RMSNorm(feature_width)
        if "fc_norm" in self.flags:
            count = len(form.ids or (0, 0, 0))
            self.fc_norm = nn.ModuleList(nn.RMSNorm(feature_width // count) for _ in range(count))
        self.head_dim = attention.head_dim
        self.scale = attention.scaling

    def _norm(self, x: Tensor, weight: Tensor) -> Tensor:
        """x / rms(x) * weight in the type of x, which training lowers."""
        return rms_norm(x, weight.to(x.dtype), self.eps)

    def text_states(self, features: Tensor) -> Tensor:
        """The states [..., width] of a text's tokens from the target's, [..., feature_width]."""
        if "norm_before_fc" in self.flags:
            features = self._norm(features, self.input_norm.weight)
        if "fc_norm" in self.flags:
            parts = features.chunk(len(self.fc_norm), dim=-1)
            norms = zip(parts, self.fc_norm, strict=True)
            features = torch.cat([self._norm(part, norm.weight) for part, norm in norms], dim=-1)
        return self.fc(features)

    def queries_keys_values(
        self, embeddings: Tensor, states: Tensor, cos: Tensor, sin: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        """What the layer attends with, [rows, heads, m, head_dim] each.

        Args:
            embeddings, states: of the tokens, [rows, m, width].
            cos, sin: of their positions, [m, head_dim]; attention computes in their type.
        """
        layer = self.midlayer
        attention = layer.self_attn
        normed = self._norm(embeddings, layer.input_layernorm.weight)
        # The layer reads a token beside the state before it, so it is twice as wide as others.
        x = torch.cat([normed, self._norm(states, layer.hidden_norm.weight)], dim=-1)

        def heads(product: nn.Linear) -> Tensor:
            return product(x).unflatten(-1, (-1, self.head_dim)).transpose(1, 2)

        q = heads(attention.q_proj)
        k = heads(attention.k_proj)
        v = heads(attention.v_proj)
        if hasattr(attention, "q_norm"):
            q = self._norm(q, attention.q_norm.weight)
            k = self._norm(k, attention.k_norm.weight)
        return rotate(q, cos, sin), rotate(k, cos, sin), v.to(cos.dtype)

    def next_states(self, states: Tensor, mixed: Tensor) -> Tensor:
        """The head's guesses at the next states, [rows, m, width], which it is fed with below.

        Args:
            states: those that it read, [rows, m, width].
            mixed: what attention made of the values, [rows, heads, m, head_dim].
        """
        layer = self.midlayer
        if "norm_before_residual" in self.flags:
            states = self._norm(states, layer.hidden_norm.weight)
        mixed = mixed.transpose(1, 2).flatten(2).to(states.dtype)
        x = states + layer.self_attn.o_proj(mixed)
        x = x + layer.mlp(self._norm(x, layer.post_attention_layernorm.weight))
        if "norm_output" in self.flags:
            return self._norm(x, self.norm.weight)
        return x

    def logits(self, states: Tensor) -> Tensor:
        """Logits [..., draft vocabulary] of guessed states."""
        if "norm_output" not in self.flags:  # else they are normed already
            states = self._norm(states, self.norm.weight)
        return self.lm_head(states)


def rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary embedding of queries or keys, in the type of `cos`."""
    x = x.to(cos.dtype)
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-high, low], dim=-1) * sin


def rotary_table(layer: PreTrainedConfig, positions: int, dtype: torch.dtype) -> Tensor:
    """cos and sin of the first `positions` positions, [2, positions, head_dim]."""
    cos, sin = LlamaRotaryEmbedding(layer)(torch.zeros(1), torch.arange(positions)[None])
    return torch.stack([cos[0], sin[0]]).to(dtype)
