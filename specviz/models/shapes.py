"""Models with random weights in the shapes of real ones, to measure a machine: "random:llama-2-7b" as a name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

from .hub import free_memory

RANDOM = "random:"
ROOM = 1024  # tokens of text and tree for which there must be memory


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


def shape_config(role: str, name: str) -> Any:
    """The configuration of a name such as "random:llama-2-7b"; no text ends before its length."""
    from transformers import LlamaConfig

    shape = name.removeprefix(RANDOM)
    if shape not in SHAPES:
        raise ValueError(f"{role} must be {RANDOM} and one of {', '.join(SHAPES)}; got {name!r}.")
    return LlamaConfig(**SHAPES[shape], bos_token_id=None, eos_token_id=None)


def random_model(role: str, name: str, device: torch.device, dtype: torch.dtype) -> Any:
    """A causal language model of that shape, made where it computes; the same weights every time."""
    from transformers import AutoModelForCausalLM

    config = shape_config(role, name)
    with torch.device("meta"):
        weights = sum(part.numel() for part in AutoModelForCausalLM.from_config(config).parameters())
    head = config.hidden_size // config.num_attention_heads
    cache = 2 * config.num_hidden_layers * config.num_key_value_heads * head * ROOM
    needed, free = (weights + cache) * dtype.itemsize + 4 * ROOM * config.vocab_size, free_bytes(device)
    if free is not None and needed > free:
        raise ValueError(
            f"{role} {name!r} needs {needed / 2**30:.1f} GiB in {str(dtype).removeprefix('torch.')}, and "
            f"{free / 2**30:.1f} GiB are free on {device}. Choose a smaller one, or another device."
        )
    with torch.random.fork_rng(devices=[device] if device.type == "cuda" else []), device:
        torch.manual_seed(role == "draft")
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")


def free_bytes(device: torch.device) -> int | None:
    """Bytes of free memory of a device; None if that is not known."""
    return torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else free_memory()


class NumberText:
    """The text side of models that know no text: a byte of a prompt is a token, a token its number."""

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
