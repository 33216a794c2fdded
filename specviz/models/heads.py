"""Medusa's heads: from the target's last hidden state to logits of tokens ahead (Cai et al. 2024, section 2.1.1).

Head i is a residual block before the target's output head: g_i = f + SiLU(W_i f). Training begins with W_i = 0.
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
from ..passes.threads import using


class MedusaHeads(nn.Module):
    """The residual blocks of all heads."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, width, width))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """g of every head, [heads, n, width], from features [n, width]."""
        # One product of all heads: a batch of them takes ten times as long in bfloat16 on a CPU.
        gates = functional.linear(features, self.weight.flatten(0, 1)).unflatten(1, self.weight.shape[:2])
        return features + functional.silu(gates.transpose(0, 1))


def save_heads(heads: MedusaHeads, folder: Path) -> None:
    """Write a folder that `load_heads` reads."""
    count, width, _ = heads.weight.shape
    save_drafter(folder, "medusa", {"weight": heads.weight}, heads=count, width=width)


def load_heads(folder: Path, target: HuggingFaceModel, count: int) -> Callable[[torch.Tensor], Any]:
    """The first `count` heads of a folder: a function of one feature, [width], that returns logits, [count, V]."""
    weights = load_drafter(folder, "medusa", target)[1]["weight"][:count]
    heads = MedusaHeads(len(weights), weights.shape[2])
    heads.load_state_dict({"weight": weights})
    heads = heads.to(target.device, target.dtype).eval()

    def logits(feature: torch.Tensor) -> Any:
        with torch.inference_mode(), using(target.threads.count):
            states = heads(feature[None])[:, 0]
        return target.logits_of(states)

    return logits


def save_drafter(folder: Path, kind: str, weights: dict[str, torch.Tensor], **sizes: Any) -> None:
    """Write weights in bfloat16, and their sizes, of which "width" is that of the target's features."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: tensor.detach().to(torch.bfloat16).contiguous() for name, tensor in weights.items()}
    save_file(tensors, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"kind": kind} | sizes, indent=1) + "\n", encoding="utf-8")


def load_drafter(folder: Path, kind: str, target: HuggingFaceModel) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
    """The sizes and weights that `save_drafter` wrote for a target."""
    train = f"python -m specviz train --drafter {kind}"
    try:
        sizes = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ValueError(
            f"{kind} must be trained for this target; {folder.parent.name}/{folder.name} does not exist. Train it with "
            f"{train}, or choose another drafter."
        ) from None
    width = target.model.get_output_embeddings().weight.shape[1]
    if not isinstance(sizes, dict) or sizes.get("kind") != kind or sizes.get("width") != width:
        raise ValueError(
            f"{kind} must have been trained for this target, whose states have {width} numbers; {folder.name} was not. "
            f"Train it again: {train}."
        )
    try:
        return sizes, load_file(folder / "model.safetensors")
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{kind} cannot be read from {folder.name}: {error}. Train it again: {train}.") from None
