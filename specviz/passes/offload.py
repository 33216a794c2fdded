"""Targets that accelerate places: over several GPUs, in main memory, or on disk where they cannot be streamed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import torch

OFFLOADS = ("auto", "balanced", "cpu", "disk")


def check_offload(offload: str, device: torch.device) -> None:
    """Raise a ValueError if weights cannot be placed as asked."""
    if offload not in OFFLOADS:
        raise ValueError(f"offload must be one of {', '.join(OFFLOADS)}; got {offload!r}.")
    if offload == "cpu" and device.type == "cpu":
        raise ValueError('offload "cpu" serves a GPU, but the device is the CPU. Leave it out, or use "disk".')
    if find_spec("accelerate") is None:
        raise ValueError('offload needs the package accelerate, which is not installed. Run: pip install "accelerate".')


def device_map(config: Any, offload: str, device: torch.device) -> str | dict[str, str]:
    """Which part of a model goes where, as `from_pretrained` takes it: "cpu" and "disk" are for all layers."""
    if offload in ("auto", "balanced"):
        return offload
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model, depth = AutoModelForCausalLM.from_config(config), config.get_text_config().num_hidden_layers
    lists = [n for n, part in model.named_modules() if isinstance(part, torch.nn.ModuleList) and len(part) == depth]
    if len(lists) != 1:
        raise ValueError(f"offload needs a model that keeps its {depth} layers in one list; choose another model.")
    rest = [name for name, part in model.named_modules() if not name.startswith(lists[0]) and not [*part.children()]]
    return dict.fromkeys(rest, str(device)) | {f"{lists[0]}.{i}": offload for i in range(depth)}


def is_spread(model: Any) -> bool:
    """Whether the parts of a model compute on several devices."""
    places = getattr(model, "hf_device_map", None) or {}
    return len({str(place) for place in places.values()} - {"cpu", "disk"}) > 1
