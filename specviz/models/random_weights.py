"""Models with random weights in the shapes of real ones, to time an engine where the weights themselves do not matter.

What such a pair writes means nothing, and neither does how much of the draft it accepts; what a pass costs depends on
shapes alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from ..passes.huggingface import HuggingFaceModel
from .loading import choose_device, choose_dtype
from .pair import EMBEDDED, HuggingFacePair
from .selftest import check_tree_reading


def _llama(
    hidden: int, layers: int, heads: int, mlp: int, vocab: int = 32000, context: int = 2048, kv: int | None = None,
    **more: Any,
) -> dict[str, Any]:  # fmt: skip
    return dict(
        hidden_size=hidden, num_hidden_layers=layers, num_attention_heads=heads, intermediate_size=mlp,
        num_key_value_heads=kv or heads, vocab_size=vocab, max_position_embeddings=context, tie_word_embeddings=False,
    ) | more  # fmt: skip


LONG = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
# From the configurations published with the models.
SHAPES: dict[str, dict[str, Any]] = {
    "tiny": _llama(32, 2, 4, 48, vocab=97, context=1024, kv=2),
    "llama-68m": _llama(768, 2, 12, 3072),
    "llama-160m": _llama(768, 12, 12, 3072),
    "tinyllama-1.1b": _llama(2048, 22, 32, 5632, kv=4),
    "llama-3.2-1b": _llama(2048, 16, 32, 8192, 128256, 131072, 8, tie_word_embeddings=True, rope_parameters=LONG),
    "llama-2-7b": _llama(4096, 32, 32, 11008, context=4096),
    "llama-2-13b": _llama(5120, 40, 40, 13824, context=4096),
    "llama-2-70b": _llama(8192, 80, 64, 28672, context=4096, kv=8),
    "llama-3-8b": _llama(
        4096, 32, 32, 14336, 128256, 8192, 8, rope_parameters={"rope_type": "default", "rope_theta": 500000.0}
    ),
}


def shape_config(name: str, role: str, vocab: int | None = None) -> Any:
    """The configuration of a named shape.

    Args:
        name: one of `SHAPES`, or "embedded" for the shape of the embedded target or draft.
        role: "target" or "draft".
        vocab: size of the vocabulary, where it is not the shape's own.

    Raises:
        ValueError: if there is no such shape.
    """
    from transformers import AutoConfig, LlamaConfig

    nowhere = dict(bos_token_id=None, eos_token_id=None)  # no text ends before its length
    given = nowhere if vocab is None else nowhere | {"vocab_size": vocab}
    if name == "embedded":
        return AutoConfig.from_pretrained(EMBEDDED / role, local_files_only=True, trust_remote_code=False, **given)
    if name not in SHAPES:
        raise ValueError(f"{role} shape must be one of {', '.join([*SHAPES, 'embedded'])}; got {name!r}.")
    return LlamaConfig(**(SHAPES[name] | given))


def random_pair(
    target: str,
    draft: str,
    device: str = "auto",
    dtype: str = "auto",
    tokens_left: int = 1024,
    seed: int = 0,
    vocab: int | None = None,
) -> HuggingFacePair:
    """A target and a draft with random weights, made on the device in the number format they compute in.

    Args:
        target, draft: names of shapes.
        device, dtype: as for `load_pair`.
        room: tokens of text and tree for which there must be memory.
        seed: the same seed gives the same weights.
        vocab: size of the vocabulary, where it is not that of the shapes.

    Raises:
        ValueError: if a shape is unknown, the vocabularies differ, or they need more memory than is free.
    """
    place = choose_device(device)
    number = choose_dtype(dtype, place)
    configs = [shape_config(name, role, vocab) for name, role in ((target, "target"), (draft, "draft"))]
    widths = [config.vocab_size for config in configs]
    if widths[0] != widths[1]:
        raise ValueError(
            f"target and draft must share a vocabulary; {target} has {widths[0]} tokens and {draft} {widths[1]}. "
            "Choose a draft shape of the same family."
        )
    check_memory(configs, number, place, tokens_left)
    models = []
    for i, (config, role) in enumerate(zip(configs, ("target", "draft"), strict=True)):
        model = HuggingFaceModel(random_model(config, place, number, seed + i))
        check_tree_reading(role, model)
        model.capture_graphs()
        models.append(model)
    limit = min(config.max_position_embeddings for config in configs)
    info = {
        "name": f"random weights: {target} + {draft}", "dtype": str(number).removeprefix("torch."),
        "device": str(place), "vocab_size": widths[0], "max_positions": limit,
    }  # fmt: skip
    return HuggingFacePair(models[0], models[1], NumberText(widths[0]), limit, frozenset(), info)


def random_model(config: Any, device: torch.device, dtype: torch.dtype, seed: int = 0) -> Any:
    """A causal language model of this configuration with random weights; nothing is made anywhere else first."""
    from transformers import AutoModelForCausalLM

    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), device:
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")


def check_memory(configs: Sequence[Any], dtype: torch.dtype, device: torch.device, tokens_left: int) -> None:
    """See that models and their caches fit.

    Raises:
        ValueError: naming the bytes that are needed and those that are free.
    """
    needed, free = sum(bytes_needed(config, dtype, tokens_left) for config in configs), free_bytes(device)
    if free is not None and needed > free:
        raise ValueError(
            f"these shapes need {needed:,} bytes ({needed / 2**30:.1f} GiB) in {str(dtype).removeprefix('torch.')} "
            f"and {free:,} ({free / 2**30:.1f} GiB) are free on {device}. Choose smaller ones, or another device."
        )


def bytes_needed(config: Any, dtype: torch.dtype, tokens_left: int) -> int:
    """Bytes of a model's weights, of keys and values of `room` tokens, and of as many rows in float32."""
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        weights = sum(part.numel() for part in AutoModelForCausalLM.from_config(config).parameters())
    width = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    kept = 2 * config.num_hidden_layers * config.num_key_value_heads * width * tokens_left
    return (weights + kept) * dtype.itemsize + 4 * tokens_left * config.vocab_size


def free_bytes(device: torch.device) -> int | None:
    """Bytes of free memory of `device`, None if unknown."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return 1024 * int(found[0]) if found else None


class NumberText:
    """The text side of models that know no text: a byte of a prompt is a token, and a token is shown as its number.

    Args:
        vocab_size: V; bytes beyond it wrap around.
    """

    def __init__(self, vocab_size: int) -> None:
        self.vocab_size = vocab_size

    def encode(self, text: str) -> list[int]:
        """The bytes of a text, as token ids."""
        return [byte % self.vocab_size for byte in text.encode("utf-8", errors="replace")]

    def decode(self, tokens: Sequence[int]) -> str:
        """The numbers of the tokens."""
        return "".join(map(self.piece, tokens))

    def piece(self, token: int) -> str:
        """The number of a token."""
        return f"<{int(token)}>"

    def stream(self, context: Sequence[int]) -> Callable[[int], str]:
        """A function from a token to its number."""
        return self.piece
