"""From a name to a model in memory: a folder, a model of the Hugging Face hub, or random weights in
a real one's shape.

Random weights, with a name such as "random:llama-2-7b", measure a machine without a download.
"""

from __future__ import annotations

from pathlib import Path
from threading import Lock
from typing import Any, TypeAlias

import psutil
import torch
from transformers import (
    AutoConfig,
    AutoModelForCausalLM,
    AutoTokenizer,
    LlamaConfig,
    PreTrainedConfig,
    PreTrainedModel,
)
from transformers.utils import logging

from ..base.errors import ParameterError, cause
from ..base.files import read_table
from .formats.checkpoint import check_format, check_names, hash_of
from .hub import RANDOM, model_folder
from .table import NumberText

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
OFFLOADS = ("auto", "balanced", "cpu", "disk")  # where accelerate places a target's layers
Tokenizer: TypeAlias = Any  # of transformers, or the `NumberText` of random weights
RESERVE = 1.1  # memory that random weights need, with keys, values and logits, over their own
SHAPES = read_table("models.toml")["shapes"]
# Models that were loaded before anybody decodes, by name, device and format.
preloaded: dict[tuple[str, torch.device, torch.dtype], PreTrainedModel] = {}
# While transformers makes a model it replaces functions and the default dtype of the whole process,
# so two that are made at a time would leave those of each other.
one_at_a_time = Lock()


def choose_device(device: str) -> torch.device:
    """The device that `device` names: "auto", "cpu", "cuda", "cuda:0", ..., "mps"."""
    if device == "auto":
        device = "cpu"
        if torch.backends.mps.is_available():
            device = "mps"
        if torch.cuda.is_available():
            device = "cuda"
    elif device != "cpu":
        try:
            # Tried and not looked up: a device may be there and fail.
            torch.zeros(1, device=str(device)).cpu()
        except Exception as error:
            must = (
                "be auto, cpu, or a device such as cuda:0 or mps that torch finds on this machine"
            )
            raise ParameterError("device", must, device, f"torch says: {cause(error)}.") from None
    return torch.device(device)


def choose_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """The number format that `dtype` names; "auto" takes the fastest the device computes in."""
    if dtype != "auto":
        if dtype not in DTYPES:
            raise ParameterError("dtype", f"be auto, {', '.join(DTYPES)}", dtype)
        return DTYPES[dtype]
    if device.type == "mps":
        return torch.float16
    if device.type == "cuda":
        if torch.cuda.is_bf16_supported(including_emulation=False):
            return torch.bfloat16
        return torch.float16
    # Older versions of torch do not say what a processor has.
    features: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    if features.get("avx512_bf16") or features.get("amx_bf16"):
        return torch.bfloat16
    return torch.float32


def load_model(
    role: str,
    name: str,
    device: torch.device,
    dtype: torch.dtype,
    offload: str | None = None,
    folder: str | Path | None = None,
) -> PreTrainedModel:
    """A causal language model with attention that takes a tree mask; a `ValueError` if it cannot be
    loaded.

    Args:
        role: "target" or "draft", as errors name it.
        name: a folder, a name on the hub, or "random:" and a shape of `assets/models.toml`.
        device, dtype: where it computes, and in what.
        offload, folder: as for `load_pair`.
    """
    if name.startswith(RANDOM) and offload is None:
        return _random_model(role, name, device, dtype)
    if offload is None and (name, device, dtype) in preloaded:
        return preloaded[name, device, dtype]
    logging.disable_progress_bar()  # progress is reported to the caller
    config = load_config(role, name)
    # Whatever it names: sdpa then, or eager where a family has no other.
    config._attn_implementation = None
    if not name.startswith(RANDOM):
        check_format(role, name, model_folder(role, name), config)
    options: dict[str, object] = {
        "config": config,
        "dtype": dtype,
        "use_safetensors": True,
        "output_loading_info": True,
    }
    if offload is not None:
        options |= {"device_map": device_map(config, offload, device), "offload_folder": folder}
    model, report = _read(role, name, AutoModelForCausalLM, **options)
    check_names(role, name, report["missing_keys"], report["unexpected_keys"])
    if offload is None:
        return model.to(device)
    return model


def weights_hash(role: str, name: str) -> str:
    """A hash of a model's weights; "" for random ones."""
    if name.startswith(RANDOM):
        return ""
    return hash_of(model_folder(role, name))


def device_map(
    config: PreTrainedConfig, offload: str, device: torch.device
) -> str | dict[str, str]:
    """Which part of a model goes where, as `from_pretrained` takes it: "cpu" and "disk" are for all
    layers.

    Raises:
        ValueError: if weights cannot be placed as asked.
    """
    if offload not in OFFLOADS:
        raise ValueError(f"offload must be one of {', '.join(OFFLOADS)}; got {offload!r}.")
    if offload == "cpu" and device.type == "cpu":
        raise ValueError(
            'offload "cpu" serves a GPU, but the device is the CPU. Leave it out, or use "disk".'
        )
    if offload in ("auto", "balanced"):
        return offload
    depth = config.get_text_config().num_hidden_layers
    model = empty_model(config)
    layers = layer_list("offload", model, depth)
    # Accelerate wants every leaf named: layers go where was asked, all else stays on the device.
    places = {f"{layers}.{number}": offload for number in range(depth)}
    for name, part in model.named_modules():
        if not (list(part.children()) or name.startswith(layers)):
            places[name] = str(device)
    return places


def empty_model(config: PreTrainedConfig, **options: object) -> PreTrainedModel:
    """A model without numbers, on the device "meta"."""
    with one_at_a_time, torch.device("meta"):
        return AutoModelForCausalLM.from_config(config, **options)


def layer_list(parameter: str, model: torch.nn.Module, depth: int) -> str:
    """The name of the module list that holds a model's layers; a `ValueError`, of a parameter, if
    it has none."""
    lists = []
    for name, part in model.named_modules():
        if isinstance(part, torch.nn.ModuleList) and len(part) == depth:
            lists.append(name)
    if len(lists) != 1:
        raise ParameterError(parameter, f"have a target that keeps its {depth} layers in one list")
    return lists[0]


def load_tokenizer(role: str, name: str) -> Tokenizer:
    """The tokenizer of a model, or the `NumberText` of random weights; arguments and errors as for
    `load_model`."""
    if name.startswith(RANDOM):
        return NumberText(load_config(role, name).vocab_size)
    return _read(role, name, AutoTokenizer)


def load_config(role: str, name: str) -> PreTrainedConfig:
    """The configuration of a model; arguments and errors as for `load_model`."""
    if not name.startswith(RANDOM):
        return _read(role, name, AutoConfig)
    shape = name.removeprefix(RANDOM)
    if shape not in SHAPES["of"]:
        raise ParameterError(role, f"be {RANDOM} and one of {', '.join(SHAPES['of'])}", name)
    sizes = dict(zip(SHAPES["fields"], SHAPES["of"][shape], strict=True))
    endless = {"bos_token_id": None, "eos_token_id": None}  # no text ends before its length
    return LlamaConfig(**sizes, **endless, tie_word_embeddings=shape == "llama-3.2-1b")


def _read(role: str, name: str, auto: Any, **options: object) -> Any:
    """What one of transformers' Auto classes makes of a model's folder; no code of the folder is
    run."""
    folder = model_folder(role, name, weights="use_safetensors" in options)
    try:
        with one_at_a_time:
            return auto.from_pretrained(
                str(folder), local_files_only=True, trust_remote_code=False, **options
            )
    except Exception as error:
        raise ValueError(f"{role} {name!r} cannot be loaded: {cause(error)}.") from error


def _random_model(
    role: str, name: str, device: torch.device, dtype: torch.dtype
) -> PreTrainedModel:
    """Random weights, made where they compute; the same every time."""
    config = load_config(role, name)
    weights = sum(part.numel() for part in empty_model(config).parameters())
    needed = RESERVE * weights * dtype.itemsize
    free = psutil.virtual_memory().available
    if device.type == "cuda":
        free = torch.cuda.mem_get_info(device)[0]
    if needed > free:
        raise ValueError(
            f"{role} {name!r} needs {needed / 2**30:.1f} GiB in "
            f"{str(dtype).removeprefix('torch.')}, and "
            f"{free / 2**30:.1f} GiB are free on {device}. Choose a smaller one, or another device."
        )
    generators = [device] if device.type == "cuda" else []
    with one_at_a_time, torch.random.fork_rng(devices=generators), device:
        torch.manual_seed(role == "draft")
        return AutoModelForCausalLM.from_config(config, dtype=dtype, attn_implementation="sdpa")


def longest_text(role: str, config: PreTrainedConfig) -> int:
    """The longest text a model can be given, in tokens: its positions, and no more than it can
    attend to from the last of them."""
    config = config.get_text_config()
    limits = [getattr(config, "max_position_embeddings", None) or 2048]
    limits += attention_windows(role, config)
    # At the length for which longrope was first made its positions change, also those read before.
    rotary = getattr(config, "rope_parameters", None) or {}
    for part in (rotary, *rotary.values()):
        if isinstance(part, dict) and part.get("rope_type") == "longrope":
            name = "original_max_position_embeddings"
            limits.append(part.get(name) or getattr(config, name, None))
    return min(filter(None, limits))


def attention_windows(role: str, config: PreTrainedConfig) -> list[int]:
    """Windows of attention that passes do not know, in tokens; a `ValueError` for layers that
    cannot read the branches of a tree. Passes know sliding windows."""
    kinds = set(getattr(config, "layer_types", None) or ())
    if unknown := kinds - {"full_attention", "sliding_attention"}:
        raise ValueError(
            f"{role} has layers of kind {', '.join(sorted(unknown))}, which cannot read the "
            "branches of a tree. Choose a model with plain attention in every layer."
        )
    windows = []
    if "local" in getattr(config, "attention_layers", ["local"]):  # a window by any other name
        for name, value in vars(config).items():
            is_window = "window" in name and "sliding" not in name and not name.endswith("layers")
            if is_window and type(value) is int and value > 0:
                windows.append(value)
    return windows
