"""From a name to a model in memory: a folder, a model of the Hugging Face hub, or random weights of a known shape."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import cause
from ..passes.offload import check_offload, device_map
from .hub import model_folder
from .shapes import RANDOM, NumberText, random_model, shape_config

_placed: dict[tuple[str, torch.device, torch.dtype], Any] = {}  # models that were loaded before anybody decodes
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def choose_device(device: str) -> torch.device:
    """The device that `device` names: "auto", "cpu", "cuda", "cuda:0", ..., "mps"."""
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
        raise ValueError(f"device {device!r} is not available in torch on this machine. Use auto or cpu.")
    return chosen


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The number format that `dtype` names; "auto" takes the fastest the device computes in."""
    if dtype == "auto":
        if device.type == "mps":
            return torch.float16
        if device.type == "cuda":
            return torch.bfloat16 if torch.cuda.is_bf16_supported(including_emulation=False) else torch.float16
        able: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()  # older versions of torch cannot tell
        return torch.bfloat16 if able.get("avx512_bf16") or able.get("amx_bf16") else torch.float32
    if dtype not in DTYPES:
        raise ValueError(f"dtype must be auto, {', '.join(DTYPES)}; got {dtype!r}.")
    return DTYPES[dtype]


def load_model(
    role: str,
    name: str,
    device: torch.device,
    dtype: torch.dtype,
    offload: str | None = None,
    folder: str | None = None,
) -> Any:
    """A causal language model with attention that takes a tree mask."""
    if name.startswith(RANDOM) and offload is None:
        return random_model(role, name, device, dtype)
    if offload is None and (name, device, dtype) in _placed:
        return _placed[name, device, dtype]
    if offload is not None:
        check_offload(offload, device)
    from transformers import AutoModelForCausalLM
    from transformers.utils import logging

    logging.disable_progress_bar()  # progress is reported to the caller
    options: dict[str, Any] = {"dtype": dtype, "use_safetensors": True, "output_loading_info": True}
    if offload is not None:
        placement = device_map(load_config(role, name), offload, device)
        options |= {"device_map": placement, "offload_folder": folder}
    try:
        model, report = _read(role, name, AutoModelForCausalLM, attn_implementation="sdpa", **options)
    except ValueError as error:
        if "scaled_dot_product_attention" not in str(error.__cause__):
            raise
        model, report = _read(role, name, AutoModelForCausalLM, attn_implementation="eager", **options)
    if missing := sorted(report["missing_keys"]):
        raise ValueError(
            f"{role} {name!r} lacks weights of its configuration, for example {missing[0]}; "
            "config.json and *.safetensors must belong to the same model."
        )
    return model.to(device) if offload is None else model


def place_model(role: str, name: str, device: torch.device, dtype: torch.dtype) -> None:
    """Load a model once and for all: `load_model` returns it from now on. Arguments and errors as there."""
    _placed[name, device, dtype] = load_model(role, name, device, dtype)


def load_tokenizer(role: str, name: str) -> Any:
    """The tokenizer of a model, or the `NumberText` of random weights; arguments and errors as for `load_model`."""
    if name.startswith(RANDOM):
        return NumberText(shape_config(role, name).vocab_size)
    from transformers import AutoTokenizer

    return _read(role, name, AutoTokenizer)


def load_config(role: str, name: str) -> Any:
    """The configuration of a model; arguments and errors as for `load_model`."""
    if name.startswith(RANDOM):
        return shape_config(role, name)
    from transformers import AutoConfig

    return _read(role, name, AutoConfig)


def _read(role: str, name: str, auto: Any, **options: Any) -> Any:
    """What one of transformers' Auto classes makes of a model's folder; no code of the folder is run."""
    folder = model_folder(role, name, weights="use_safetensors" in options)
    try:
        return auto.from_pretrained(str(folder), local_files_only=True, trust_remote_code=False, **options)
    except Exception as error:
        raise ValueError(f"{role} {name!r} cannot be loaded: {cause(error)}.") from error


def longest_text(role: str, config: Any) -> int:
    """The longest text a model can be given, in tokens: its positions, or how far its attention looks back."""
    config = config.get_text_config()
    sliding = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None) or ["full_attention" if sliding is None else "sliding_attention"]
    if unknown := set(kinds) - {"full_attention", "sliding_attention"}:
        raise ValueError(
            f"{role} has layers of kind {', '.join(sorted(unknown))}, which cannot read the branches of a tree. "
            "Choose a model with plain attention in every layer."
        )
    limits = [getattr(config, "max_position_embeddings", None) or 2048]
    if "sliding_attention" in kinds:
        limits.append(sliding)
    if "local" in getattr(config, "attention_layers", ["local"]):  # a window by any other name
        names = (name for name in vars(config) if "window" in name and "sliding" not in name)
        windows = (getattr(config, name) for name in names if not name.endswith("layers"))
        limits += [value for value in windows if type(value) is int and value > 0]
    rotary = getattr(config, "rope_parameters", None) or {}
    for part in (rotary, *rotary.values()):  # at such a length longrope's positions change, also those read before
        if isinstance(part, dict) and part.get("rope_type") == "longrope":
            name = "original_max_position_embeddings"
            limits.append(part.get(name) or getattr(config, name, None))
    return min(filter(None, limits))
