"""Models larger than one device: spread over several, or with layers that stay in main memory or on disk.

accelerate moves the weights: its hooks fetch a layer before it runs and drop it afterwards. A pass then costs what the
fetching costs, whatever it reads, so a tree of hundreds of nodes is nearly free (Sequoia, table 2). A target that
is offloaded is read by transformers' own forward; the direct one knows nothing of hooks.
"""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch

from .cache import CHUNK, TreeCache
from .device_logits import push

OFFLOADS = ("auto", "balanced", "cpu", "disk")


def check_offload(offload: str, device: torch.device) -> None:
    """See that weights can be placed as asked.

    Raises:
        ValueError: if `offload` is unknown or changes nothing on this device, or accelerate is not installed.
    """
    if offload not in OFFLOADS:
        raise ValueError(f"offload must be one of {', '.join(OFFLOADS)}; got {offload!r}.")
    if offload == "cpu" and device.type == "cpu":
        raise ValueError(
            'offload "cpu" keeps layers in main memory for a GPU to fetch, but the device is the CPU, where they are '
            'in any case. Leave it out, or use "disk".'
        )
    if find_spec("accelerate") is None:
        raise ValueError('offload needs the package accelerate, which is not installed. Run: pip install "accelerate".')


def device_map(config: Any, offload: str, device: torch.device) -> str | dict[str, str]:
    """Which part of a model goes where, as `from_pretrained` takes it.

    Args:
        config: the model's configuration.
        offload: "auto" fills GPUs, then main memory, then the disk; "balanced" fills all GPUs alike; "cpu" and "disk"
            keep every layer there and the rest on `device`.
        device: where it computes.

    Raises:
        ValueError: if the model does not keep its layers in one list.
    """
    if offload in ("auto", "balanced"):
        return offload
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(config)
    depth = config.get_text_config().num_hidden_layers
    found = [name for name, module in model.named_modules() if _is_list(module, depth)]
    if len(found) != 1:
        raise ValueError(f"offload needs a model that keeps its {depth} layers in one list; choose another model.")
    return _places(model, "", found[0], str(device)) | {f"{found[0]}.{i}": offload for i in range(depth)}


def _is_list(module: Any, depth: int) -> bool:
    return isinstance(module, torch.nn.ModuleList) and len(module) == depth


def _places(module: Any, name: str, layers: str, place: str) -> dict[str, str]:
    """Every module beside the list called `layers`, as high up as possible."""
    if name == layers:
        return {}
    if name and not layers.startswith(f"{name}."):
        return {name: place}
    inner = (_places(child, f"{name}.{key}".lstrip("."), layers, place) for key, child in module.named_children())
    return {key: value for part in inner for key, value in part.items()}


def computing_device(model: Any) -> torch.device:
    """Where a model takes its tokens: the device of its first weights, or that of their hook while they are away."""
    weights = model.get_input_embeddings()
    device = weights.weight.device
    hook = getattr(weights, "_hf_hook", None)
    return torch.device(hook.execution_device) if device.type == "meta" and hook is not None else device


def layer_devices(model: Any) -> set[str]:
    """The devices on which the parts of a model compute."""
    places = getattr(model, "hf_device_map", None) or {}
    return {str(place) for place in places.values() if str(place) not in ("cpu", "disk")}


class SpreadCache(TreeCache):
    """A tree's cache for a model whose layers compute on several devices: one block a layer, where the layer is."""

    def __init__(self, layers: int) -> None:
        super().__init__(layers)
        self._blocks: list[torch.Tensor | None] = [None] * layers  # each [2, 1, heads, slots, width]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args, **kwargs
    ) -> tuple[torch.Tensor, torch.Tensor]:
        new = torch.stack([key_states, value_states])
        end, block = self.used + key_states.shape[2], self._blocks[layer_idx]
        if block is None or end > block.shape[3]:
            grown = new.new_zeros(*new.shape[:3], -(-end // CHUNK) * CHUNK, new.shape[4])
            if block is not None:
                grown[:, :, :, : self.used] = block[:, :, :, : self.used]
            block = self._blocks[layer_idx] = grown
        block[:, :, :, self.used : end] = new
        return block[0, :, :, :end], block[1, :, :, :end]

    def keep(self, slots: Sequence[int], start: int) -> None:
        self.used = start + len(slots)
        for block in self._blocks:
            if block is not None and list(slots) != list(range(start, self.used)):
                with torch.inference_mode():
                    index = push(np.array(slots), block.device)
                    block[:, :, :, start : self.used] = block.index_select(3, index)
