"""What is known of a model before it is loaded: its weights, and the memory that it needs."""

from __future__ import annotations

import json
from math import prod
from pathlib import Path

from huggingface_hub import HfApi
from safetensors import SafetensorError, safe_open

from specviz.base.errors import cause

ROOM = 1.3  # memory that loading takes beyond the weights


def needed(name: str) -> float:
    """Bytes of memory that a folder or a model of the hub needs while it is loaded; 0 where the hub
    does not say how many parameters it has."""
    # Torch comes with it, and the page opens without.
    from specviz.models.loading import choose_device, choose_dtype

    folder = Path(name).expanduser()
    if folder.is_dir():
        parameters = sum(prod(shape) for shape in weight_shapes(folder).values())
    else:
        info = HfApi().model_info(name, timeout=5.0)
        parameters = getattr(info.safetensors, "total", 0)
    return ROOM * parameters * choose_dtype("auto", choose_device("auto")).itemsize


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


def size(count: float) -> str:
    """Bytes in words."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.1f} MB"
