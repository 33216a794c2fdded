"""Medusa's heads: from the target's last hidden state to logits of tokens ahead (Cai et al. 2024,
section 2.1.1).

Head i is a residual block before the target's output head: g_i = f + SiLU(W_i f). Training begins
with W_i = 0.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn import functional

from ..passes.huggingface import HuggingFaceModel


class MedusaHeads(nn.Module):
    """The residual blocks of all heads, of the sizes "heads" and "width"."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.sizes = {"heads": heads, "width": width}
        self.weight = nn.Parameter(torch.zeros(heads, width, width))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """g of every head, [heads, n, width], from features [n, width]."""
        # One product of all heads: a batch of them takes ten times as long in bfloat16 on a CPU.
        gates = functional.linear(features, self.weight.flatten(0, 1)).unflatten(
            1, self.weight.shape[:2]
        )
        return features + functional.silu(gates.transpose(0, 1))


def load_heads(folder: Path, target: HuggingFaceModel, heads: int) -> Callable[[torch.Tensor], Any]:
    """The first `heads` of a folder: a function of one feature, [width], that returns logits,
    [heads, V]."""
    weights = load_drafter("medusa", folder, target)[1]["weight"][:heads]
    model = MedusaHeads(len(weights), weights.shape[2])
    model.load_state_dict({"weight": weights})
    model = model.to(target.device, target.dtype).eval()

    def logits(feature: torch.Tensor) -> Any:
        last_state = feature[-weights.shape[2] :]
        with torch.inference_mode():
            states = model(last_state[None])[:, 0]
        return target.logits_of(states)

    return logits


def save_drafter(kind: str, model: nn.Module, folder: Path) -> None:
    """Write a folder that `load_drafter` reads: what was trained of a model, in bfloat16, and its
    `sizes`."""
    folder.mkdir(parents=True, exist_ok=True)
    trained = {
        name: weight
        for name, weight in model.state_dict().items()
        if "embed" not in name and "lm_" not in name
    }
    tensors = {name: weight.to(torch.bfloat16).contiguous() for name, weight in trained.items()}
    save_file(tensors, folder / "model.safetensors")
    sizes = json.dumps({"kind": kind} | model.sizes, indent=1)
    (folder / "config.json").write_text(sizes + "\n", encoding="utf-8")


def load_drafter(
    kind: str, folder: Path, target: HuggingFaceModel
) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The sizes and weights that `save_drafter` wrote for a target.

    Raises:
        ValueError: if they cannot be read or were trained for another target.
    """
    train = f"Train it with python -m specviz train --drafter {kind}, or choose another drafter."
    try:
        sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        weights = load_file(folder / "model.safetensors")
    except (OSError, ValueError, RecursionError, SafetensorError) as error:
        place = f"{folder.parent.name}/{folder.name}"
        raise ValueError(
            f"{kind} cannot be read from {place} ({type(error).__name__}). {train}"
        ) from None
    width = target.model.get_output_embeddings().weight.shape[1]
    if (
        not isinstance(sizes, dict)
        or sizes.pop("kind", None) != kind
        or sizes.get("width") != width
    ):
        raise ValueError(
            f"{kind} must have been trained for this target, whose states have {width} "
            f"numbers; {folder.name} was not. "
            f"{train}"
        )
    return sizes, weights
