"""Drafters that were trained here, in a folder: their sizes in config.json, and their own weights.

Embeddings and output head are the target's and in no such folder.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import save
from torch import nn
from transformers import LlamaConfig

from ...base.codec import JsonObject
from ...base.errors import cause
from ...base.files import write_bytes, write_text
from ...passes.huggingface import HuggingFaceModel
from ..formats.tensors import Checkpoint, check_tensors


def layer_config(sizes: JsonObject, **more: object) -> LlamaConfig:
    """A decoder layer of these sizes: "width", "heads", "kv_heads", "mlp", "positions", "eps"."""
    return LlamaConfig(
        hidden_size=sizes["width"],
        intermediate_size=sizes["mlp"],
        num_attention_heads=sizes["heads"],
        num_key_value_heads=sizes["kv_heads"],
        rms_norm_eps=sizes["eps"],
        max_position_embeddings=sizes["positions"],
        num_hidden_layers=1,
        **more,
    )


def save_drafter(kind: str, model: nn.Module, folder: Path) -> None:
    """Write a folder that `load_drafter` reads: what was trained of a model, in bfloat16, and its
    `sizes`."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, weight in trained(model).items():
        is_number = weight.is_floating_point()  # a table of token ids stays what it is
        tensors[name] = weight.to(torch.bfloat16 if is_number else weight.dtype).contiguous()
    write_bytes(folder / "model.safetensors", save(tensors))
    write_text(folder / "config.json", json.dumps({"kind": kind} | model.sizes, indent=1) + "\n")


def trained(model: nn.Module) -> dict[str, torch.Tensor]:
    """The weights of a model that are its own; embeddings and output head are the target's."""
    own = {}
    for name, weight in model.state_dict().items():
        if "embed" not in name and "lm_" not in name:
            own[name] = weight
    return own


def load_drafter(
    kind: str, folder: Path, target: HuggingFaceModel, make: Callable[[JsonObject], nn.Module]
) -> nn.Module:
    """The model that `save_drafter` wrote for a target.

    Args:
        kind: the drafter, as its config.json and errors name it.
        folder: where it is.
        target: what it was trained for.
        make: sizes -> a model of these sizes.

    Raises:
        ValueError: if it cannot be read, was trained for another target, or a tensor is missing,
            left over or of another shape; the message names it.
    """
    place = f"{folder.parent.name}/{folder.name}"
    train = f"Train it with python -m specviz train --drafter {kind}, or choose another drafter."
    try:
        sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = Checkpoint(folder)
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{kind} cannot be read from {place} ({cause(error)}). {train}") from None
    width = target.model.get_output_embeddings().weight.shape[1]
    found = None
    if isinstance(sizes, dict):
        found = sizes.pop("kind", None)
    if found != kind:
        raise ValueError(
            f'{kind} must have the kind "{kind}" in {place}/config.json; got {found!r}. {train}'
        )
    if sizes.get("width") != width:
        raise ValueError(
            f"{kind} must have been trained for this target, whose states have {width} "
            f"numbers; {folder.name} was not. {train}"
        )
    try:
        model = make(sizes)
    except Exception as error:
        raise ValueError(
            f"{kind} has no sizes that fit together in {place}/config.json "
            f"({cause(error)}). {train}"
        ) from None
    check_tensors(f"{kind} is damaged in {place}", trained(model), weights, train)
    model.load_state_dict(dict(weights), strict=False)  # the others are the target's
    return model
