"""From a name to a model in memory: a local folder or a model of the Hugging Face hub, safetensors only.

Everything that can be wrong with a name, a folder, a device or a number format is said here in one sentence.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(device: str) -> torch.device:
    """The device that `device` names: "auto", "cpu", "cuda", "cuda:0", ..., "mps".

    Raises:
        ValueError: if there is no such device here.
    """
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        chosen = None
    if chosen is None or chosen.type not in ("cpu", "cuda", "mps"):
        raise ValueError(f"device must be auto, cpu, cuda or mps; got {device!r}.")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device {device!r} was asked for, but torch finds no such GPU here. Use auto or cpu.")
    if chosen.type == "mps" and not torch.backends.mps.is_available():
        raise ValueError(f"device {device!r} was asked for, but torch cannot use it here. Use auto or cpu.")
    return chosen


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The number format that `dtype` names; "auto" takes the fastest the device computes in.

    Raises:
        ValueError: if the name is unknown.
    """
    if dtype == "auto":
        if device.type == "mps":
            return torch.float16
        if device.type == "cuda":
            return torch.bfloat16
        able = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot tell
        return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else torch.float32
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be auto, {', '.join(DTYPES)}; got {dtype!r}.")
    return DTYPES[dtype]


def load_model(role: str, name: str, device: torch.device, dtype: torch.dtype) -> Any:
    """A causal language model with attention that takes a tree mask.

    Args:
        role: "target" or "draft", for messages.
        name: a local folder or "organisation/model" on the hub.
        device, dtype: where and how it computes.

    Raises:
        ValueError: if it cannot be loaded; the message says why and what to do.
    """
    local = check_folder(role, name)
    from transformers import AutoModelForCausalLM

    options = dict(dtype=dtype, use_safetensors=True, trust_remote_code=False, local_files_only=local)
    try:
        try:
            model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="sdpa", **options)
        except ValueError as error:
            if "attn_implementation" not in str(error):
                raise
            model = AutoModelForCausalLM.from_pretrained(name, attn_implementation="eager", **options)
    except Exception as error:
        raise ValueError(_sentence(role, name, local, error)) from error
    return model.to(device)


def load_tokenizer(role: str, name: str) -> Any:
    """The tokenizer that belongs to a model; arguments and errors as for `load_model`."""
    local = check_folder(role, name)
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name, trust_remote_code=False, local_files_only=local)
    except Exception as error:
        raise ValueError(_sentence(f"{role} tokenizer", name, local, error)) from error


def longest_text(role: str, config: Any) -> int:
    """The longest text a model can hold, in tokens: its positions, and where its attention looks back less far, that.

    Raises:
        ValueError: if it remembers in another way than by attention, which cannot follow the branches of a tree.
    """
    config = config.get_text_config()
    sliding = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None) or ["full_attention" if sliding is None else "sliding_attention"]
    if unknown := set(kinds) - {"full_attention", "sliding_attention"}:
        raise ValueError(
            f"{role} has layers of kind {', '.join(sorted(unknown))}, which cannot read the branches of a tree; "
            "choose a model with plain attention in every layer."
        )
    longest = getattr(config, "max_position_embeddings", None) or 2048
    return min(longest, sliding) if "sliding_attention" in kinds else longest


def check_folder(role: str, name: str) -> bool:
    """Whether `name` is a local folder; if so it must hold a model.

    Raises:
        ValueError: if it is neither a folder with a model nor a possible name on the hub.
    """
    folder = Path(name).expanduser()
    if not folder.is_dir():
        parts = name.split("/")
        if not name or len(parts) > 2 or any(part in ("", ".", "..", "~") for part in parts) or "\\" in name:
            raise ValueError(f"{role} folder {name!r} does not exist. Give a model folder or a name like org/model.")
        return False
    config = folder / "config.json"
    if not config.is_file():
        raise ValueError(f"{role} folder {name!r} has no config.json. Give a folder saved by save_pretrained.")
    try:
        json.loads(config.read_text(encoding="utf-8"))
    except ValueError:
        raise ValueError(f"{role} folder {name!r} has a config.json that is not JSON. Save the model again.") from None
    if not any(folder.glob("*.safetensors")):
        raise ValueError(f"{role} folder {name!r} has no weights (*.safetensors). Save the model again there.")
    return True


def _sentence(role: str, name: str, local: bool, error: Exception) -> str:
    """What went wrong while loading, as one sentence."""
    first = " ".join(str(error).split(". ")[0].split())[:300].rstrip(".")
    where = "from its folder" if local else "from the hub (unknown name, no permission, or no network)"
    return f"{role} {name!r} cannot be loaded {where}: {first}."
