"""Medusa's heads: from the target's last hidden state to logits of tokens ahead (Cai et al. 2024, section 2.1.1).

Head i is one residual block before the target's own output head: g_i = f + SiLU(W_i f). With W_i = 0, where training
begins, every head says what the target says of the next token.
"""

from __future__ import annotations

import json
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
    """The residual blocks of all heads.

    Args:
        heads: how many.
        width: of a hidden state.
    """

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(heads, width, width))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """g of every head, [heads, n, width], from features [n, width]."""
        # One product of all heads: a batch of them takes ten times as long in bfloat16 on a CPU.
        gates = functional.linear(features, self.weight.flatten(0, 1)).unflatten(1, self.weight.shape[:2])
        return features + functional.silu(gates.transpose(0, 1))


class HeadsOf:
    """Trained heads of a target: a function of one feature, [width], that returns logits, [levels, V].

    Args:
        target: whose output head they share.
        heads: their blocks, in the target's format.
    """

    def __init__(self, target: HuggingFaceModel, heads: MedusaHeads) -> None:
        self.target, self.heads = target, heads.to(target.device, target.dtype).eval()

    def __call__(self, feature: torch.Tensor) -> Any:
        with torch.inference_mode(), using(self.target.threads.count):
            states = self.heads(feature[None])[:, 0]
        return self.target.logits_of(states)


def save_heads(heads: MedusaHeads, folder: Path) -> None:
    """Write a folder that `load_heads` reads: weights in bfloat16."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file({"weight": heads.weight.detach().to(torch.bfloat16).contiguous()}, folder / "model.safetensors")
    count, width, _ = heads.weight.shape
    write_config(folder, kind="medusa", heads=count, width=width)


def load_heads(folder: Path, target: HuggingFaceModel, most: int) -> HeadsOf:
    """The first `most` of the heads in a folder.

    Raises:
        ValueError: if there are none, or they were made for another target.
    """
    weights = read_weights(folder, "medusa", width_of(target))["weight"][:most]
    heads = MedusaHeads(len(weights), weights.shape[2])
    with torch.no_grad():
        heads.weight.copy_(weights)
    return HeadsOf(target, heads)


def width_of(target: HuggingFaceModel) -> int:
    """The width of a target's features."""
    return target.model.get_output_embeddings().weight.shape[1]


def write_config(folder: Path, **facts: Any) -> None:
    """Write `facts` as the config.json of a folder."""
    (folder / "config.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def read_config(folder: Path, kind: str, width: int) -> dict[str, Any]:
    """What `write_config` wrote for a target of that width.

    Raises:
        ValueError: if the folder holds nothing of the kind, or for another target.
    """
    try:
        facts = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise ValueError(
            f"{kind} must be trained for this target; {folder.parent.name}/{folder.name} does not exist. Train it with "
            f"python -m specviz train --drafter {kind}, or choose another drafter."
        ) from None
    if not isinstance(facts, dict) or facts.get("kind") != kind or facts.get("width") != width:
        raise ValueError(
            f"{kind} must have been trained for this target, whose states have {width} numbers; "
            f"{folder.name} was not. Train it again: python -m specviz train --drafter {kind}."
        )
    return facts


def read_weights(folder: Path, kind: str, width: int) -> dict[str, torch.Tensor]:
    """The weights in a folder; errors as for `read_config`."""
    read_config(folder, kind, width)
    try:
        return load_file(folder / "model.safetensors")
    except (OSError, SafetensorError) as error:
        raise ValueError(f"{kind} cannot be read from {folder.name}: {error}. Train it again.") from None
