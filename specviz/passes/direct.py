"""The forward pass of Llama-like models, called directly: the same arithmetic as transformers', without its overhead.

At the sizes of the embedded pair a transformers forward takes about twice as long as its arithmetic. Here query, key
and value are one product, gate and up another, rotary embeddings one table for queries and keys together, the cache is
written in place, and on a CPU the weights lie as its products want them (`packed.py`). Any model that is not plainly of
this kind, or whose logits differ, keeps the transformers forward (`direct_forward` returns None).
"""

from __future__ import annotations

from typing import Any, Protocol

import torch
import torch.nn.functional as F

from .attention import attend
from .packed import Product, worth_packing

FAMILIES = ("LlamaForCausalLM", "Qwen2ForCausalLM", "MistralForCausalLM")
ROTARIES = ("default", "linear", "llama3")  # tables that do not change with the length of the text
MOST_POSITIONS = 1 << 18  # in such a table


class Layer:
    """One decoder layer with fused weights, of which the module's own become views."""

    def __init__(self, module: Any, pack: bool) -> None:
        attention, mlp = module.self_attn, module.mlp
        self.qkv = _fuse([attention.q_proj, attention.k_proj, attention.v_proj], pack)
        self.out = Product(attention.o_proj.weight, attention.o_proj.bias, pack)
        self.gate_up = _fuse([mlp.gate_proj, mlp.up_proj], pack)
        self.down = Product(mlp.down_proj.weight, mlp.down_proj.bias, pack)
        self.before, self.after = module.input_layernorm, module.post_attention_layernorm
        self.scale = attention.scaling


def _fuse(linears: list[torch.nn.Linear], pack: bool) -> Product:
    """One product in place of several of the same input."""
    weight = torch.cat([linear.weight.data for linear in linears])
    first = 0
    for linear in linears:
        last = first + linear.weight.shape[0]
        linear.weight.data = weight[first:last]
        first = last
    bias = None if linears[0].bias is None else torch.cat([linear.bias.data for linear in linears])
    return Product(weight, bias, pack)


class KeysAndValues(Protocol):
    """What a forward pass asks of a cache: how many slots are in use, and to write a layer's and see those in sight."""

    used: int

    def update(self, keys: torch.Tensor, values: torch.Tensor, layer: int, /) -> tuple[torch.Tensor, torch.Tensor]:
        """Add a layer's keys and values of the pass, and return all of them."""


class DirectForward:
    """A Llama-like model's forward pass over given tokens, positions and mask.

    Args:
        model: the transformers model.
        layers: its fused layers.
        head: its output head.
    """

    def __init__(self, model: Any, layers: list[Layer], head: Product) -> None:
        config = model.config
        self.model, self.layers = model, layers
        self.heads, self.kv_heads = config.num_attention_heads, config.num_key_value_heads
        self.width = getattr(config, "head_dim", None) or config.hidden_size // self.heads
        self.embed, self.norm, self.head = model.get_input_embeddings().weight, model.model.norm, head
        self.cos, self.sin = self._rotary(config.max_position_embeddings)

    def first(self, count: int, model: Any) -> DirectForward:
        """The same with the first `count` layers of `model`, a shortened copy of this one's."""
        return DirectForward(model, self.layers[:count], self.head)

    def _rotary(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin for every position, [length, 1, width]; the first half of sin is negative.

        With that sign, turning a vector is v cos + roll(v) sin, the products that transformers forms.
        """
        positions = torch.arange(length, device=self.embed.device)[None]
        cos, sin = self.model.model.rotary_emb(self.embed, positions)
        half = sin.shape[-1] // 2
        sin = torch.cat([-sin[0, :, :half], sin[0, :, half:]], dim=-1)
        return cos[0, :, None].clone(), sin[:, None].clone()

    def __call__(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor | None,
        cache: KeysAndValues,
        rows: torch.Tensor | None,
    ) -> torch.Tensor:
        """Logits [len(rows), V]; arguments as for `states`."""
        return self.head(self.states(ids, positions, mask, cache, rows))

    def states(
        self,
        ids: torch.Tensor,
        positions: torch.Tensor,
        mask: torch.Tensor | None,
        cache: KeysAndValues,
        rows: torch.Tensor | None,
    ) -> torch.Tensor:
        """Last hidden states after the final norm, [len(rows), width]: what the output head is applied to.

        Args:
            ids, positions: the tokens to read and where they stand, [m]; instead of tokens also embeddings, [m, width].
            mask: additive, [1, 1, m, slots in use + m]; None for a plain causal run.
            cache: where keys and values go.
            rows: which tokens need logits; None for all.
        """
        m, heads, kv_heads, width = len(ids), self.heads, self.kv_heads, self.width
        cos, sin = self.cos[positions], self.sin[positions]
        causal = mask is None and m > 1
        if causal and cache.used:  # torch aligns "causal" with the first slot, not with the last
            shape = (m, cache.used + m)
            mask = torch.full(shape, torch.finfo(self.embed.dtype).min, dtype=self.embed.dtype, device=ids.device)
            mask, causal = mask.triu_(cache.used + 1)[None, None], False
        x = ids if ids.is_floating_point() else self.embed[ids]
        for index, layer in enumerate(self.layers):
            qkv = layer.qkv(layer.before(x)).view(m, heads + 2 * kv_heads, width)
            turned = qkv[:, : heads + kv_heads]
            turned = turned * cos + turned.roll(width // 2, -1) * sin
            q, k = turned[:, :heads].transpose(0, 1)[None], turned[:, heads:].transpose(0, 1)[None]
            k, v = cache.update(k, qkv[:, heads + kv_heads :].transpose(0, 1)[None], index)
            mixed = attend(q, k, v, mask, causal, layer.scale)
            mixed = mixed[0].transpose(0, 1).reshape(m, heads * width)
            x = x + layer.out(mixed)
            gate, up = layer.gate_up(layer.after(x)).chunk(2, dim=-1)
            x = x + layer.down(F.silu(gate) * up)
        return self.norm(x if rows is None else x[rows])


def _untouched(model: Any) -> bool:
    """Whether a weight is all there is to each product: no adapter (LoRA), quantised layer, hook or changed forward."""
    products = [model.lm_head]
    for layer in model.model.layers:
        attention, mlp = layer.self_attn, layer.mlp
        products += [attention.q_proj, attention.k_proj, attention.v_proj, attention.o_proj]
        products += [mlp.gate_proj, mlp.up_proj, mlp.down_proj]
    plain = all(type(product) is torch.nn.Linear for product in products)
    return plain and type(model.get_input_embeddings()) is torch.nn.Embedding and not any(map(_hooked, model.modules()))


def _hooked(module: torch.nn.Module) -> bool:
    """Whether something runs beside a module's own forward; accelerate's hooks replace it."""
    return bool(module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module))


def direct_forward(model: Any) -> DirectForward | None:
    """A direct forward of `model`, None where its configuration has anything this file does not know."""
    config = model.config
    rotary = getattr(config, "rope_parameters", None) or {}
    known = (
        type(model).__name__ in FAMILIES
        and type(model).__module__.startswith("transformers.")
        and getattr(config, "hidden_act", None) == "silu"
        and rotary.get("rope_type", "default") in ROTARIES
        and not getattr(config, "quantization_config", None)
        and not any(kind != "full_attention" for kind in getattr(config, "layer_types", None) or ())
        and not getattr(config, "sliding_window", None)
        and config.max_position_embeddings <= MOST_POSITIONS
        and _untouched(model)
    )
    if not known:
        return None
    pack = worth_packing(model)
    with torch.inference_mode():
        layers = [Layer(module, pack) for module in model.model.layers]
        return DirectForward(model, layers, Product(model.lm_head.weight, model.lm_head.bias, pack))
