"""What is known of a pair before it is loaded: its size, and whether it fits here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from math import prod
from pathlib import Path

import psutil
from huggingface_hub import HfApi
from huggingface_hub.utils import filter_repo_objects
from safetensors import SafetensorError, safe_open

from specviz.base.errors import cause
from specviz.models.hub import FILES, SUBFOLDERS

ROOM = 1.3  # memory that loading takes beyond the weights


@dataclass(frozen=True)
class ModelFiles:
    """The bytes of a model's files, and its parameters where they are counted."""

    bytes: int
    parameters: int | None


def model_files(name: str) -> ModelFiles:
    """The size and parameters of a folder or of a hub model."""
    folder = Path(name).expanduser()
    # A folder is measured by its files; of a hub only what it says is asked, so nothing is fetched.
    if folder.is_dir():
        files = chain.from_iterable(map(folder.glob, FILES))
        size = sum(file.stat().st_size for file in files)
        parameters = sum(prod(shape) for shape in weight_shapes(folder).values())
        return ModelFiles(size, parameters)
    info = HfApi().model_info(name, files_metadata=True, timeout=5.0)
    files = filter_repo_objects(
        info.siblings or (),
        allow_patterns=FILES,
        ignore_patterns=SUBFOLDERS,
        key=lambda file: file.rfilename,
    )
    total = getattr(info.safetensors, "total", None)
    return ModelFiles(sum(file.size or 0 for file in files), total)


def weight_shapes(folder: Path) -> dict[str, list[int]]:
    """The shapes of all weights in a folder by their names, from the headers of its files."""
    shapes = {}
    for file in sorted(folder.glob("*.safetensors")):
        try:
            with safe_open(file, framework="np") as weights:
                for name in weights.keys():  # noqa: SIM118
                    shapes[name] = weights.get_slice(name).get_shape()
        except SafetensorError as error:
            raise ValueError(f"{file.name} is damaged: {error}. Save the model again.") from None
    return shapes


def check_layers(role: str, folder: Path) -> None:
    """Check that a model of a folder has no more layers than its files hold weights of, before
    anything of that size is built.

    Raises:
        ValueError: if it has, or config.json cannot be read.
    """
    file = folder / "config.json"
    if not file.is_file():  # who loads the model says what is missing
        return
    try:
        config = json.loads(file.read_text(encoding="utf-8"))
        counts = [config[name] for name in ("num_hidden_layers", "n_layer") if name in config]
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{role}: config.json cannot be read: {cause(error)}.") from None
    # Every layer has at least one weight. A configuration may claim a million layers, which would
    # be built with random weights, and take all memory, before a loader looks at the files.
    there = len(weight_shapes(folder))
    for layers in counts:
        if type(layers) is not int or not 0 < layers <= there:
            raise ValueError(
                f"{role}: config.json must have as many layers as the files; got {layers!r:.20} "
                f"layers, where the files hold {there} weights. Save the model again."
            )


def too_large(models: Sequence[ModelFiles]) -> str:
    """A sentence where models do not fit into this machine's free memory; nothing where they do."""
    free = psutil.virtual_memory().available
    need = needed(models)
    if need <= free:
        return ""
    return (
        f"The models need about {size(need)} of memory, but only {size(free)} are free. Choose "
        "smaller models."
    )


def needed(models: Sequence[ModelFiles]) -> float:
    """Bytes of memory that models need while they are loaded: in bfloat16 where the processor
    computes in it."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        flags = ""
    # As `models.loading` chooses the number format, without importing torch.
    width = 2 if "avx512_bf16" in flags or "amx_bf16" in flags else 4
    total = 0
    for model in models:
        total += width * model.parameters if model.parameters else model.bytes
    return ROOM * total


def size(count: float) -> str:
    """Bytes in words."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.1f} MB"
