"""Which models the direct forward pass computes: families, activations, rotary embeddings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
import torch.nn.functional as F
from transformers import PreTrainedConfig, PreTrainedModel

from ..base.codec import JsonObject

FAMILIES = (
    "LlamaForCausalLM",
    "MistralForCausalLM",
    "Qwen2ForCausalLM",
    "Qwen3ForCausalLM",
    "SmolLM3ForCausalLM",
    "Olmo2ForCausalLM",
    "Olmo3ForCausalLM",
    "Gemma3ForCausalLM",
)
ACTIVATIONS: dict[str | None, Callable[[torch.Tensor], torch.Tensor]] = {
    "silu": F.silu,
    "gelu_pytorch_tanh": partial(F.gelu, approximate="tanh"),
}
# What some models of a family have and these passes do not.
UNKNOWN = (
    "quantization_config",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "use_bidirectional_attention",
)
# Tables that do not change with the length of the text.
ROTARIES = ("default", "linear", "llama3", "yarn")
MOST_POSITIONS = 1 << 18  # in such a table


def activation_of(config: PreTrainedConfig) -> str | None:
    """The name of the activation of a model's gated part."""
    return getattr(config, "hidden_act", None) or getattr(config, "hidden_activation", None)


def rotary_kinds(config: PreTrainedConfig) -> dict[str | None, JsonObject]:
    """The rotary embeddings of a model by the kind of the layers, or for None that of all
    layers."""
    # Either one set of parameters, or one for each kind of layers.
    rotary = getattr(config, "rope_parameters", None) or {}
    kinds = set(getattr(config, "layer_types", None) or ())
    if kinds and kinds <= rotary.keys():
        return {kind: rotary[kind] for kind in sorted(kinds)}
    return {None: rotary}


def _is_plain(module: torch.nn.Module) -> bool:
    """Whether a module is torch's or transformers' own, without a hook; accelerate's hooks replace
    its forward."""
    # Somebody else's module may compute anything under the same name.
    is_library = type(module).__module__.startswith(
        ("torch.nn.modules.", "transformers.models.", "transformers.activations")
    )
    return is_library and not (
        module._forward_hooks or module._forward_pre_hooks or "forward" in vars(module)
    )


def is_known(model: PreTrainedModel) -> bool:
    """Whether the direct forward pass knows all that a model's configuration has; its weights need
    not be in memory."""
    config = model.config
    kinds = set(getattr(config, "layer_types", None) or ())
    rotaries = set()
    for part in rotary_kinds(config).values():
        rotaries.add(part.get("rope_type", "default"))
    return (
        type(model).__name__ in FAMILIES
        and activation_of(config) in ACTIVATIONS
        and rotaries <= set(ROTARIES)
        and not any(getattr(config, name, None) for name in UNKNOWN)
        and kinds <= {"full_attention", "sliding_attention"}
        and config.max_position_embeddings <= MOST_POSITIONS
        and all(map(_is_plain, model.modules()))  # no adapter (LoRA) or quantised layer
    )
