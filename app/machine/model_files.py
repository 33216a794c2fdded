"""What is known of a model before it is loaded: its size, parameters and licence."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

from huggingface_hub import HfApi, constants
from huggingface_hub.utils import filter_repo_objects, get_session
from safetensors import SafetensorError, safe_open

from specviz.models.hub import FILES, SUBFOLDERS


@dataclass(frozen=True)
class ModelFiles:
    """A model's name, the bytes of its files, its parameters where they are counted, and its
    licence."""

    name: str
    bytes: int
    parameters: int | None
    licence: str = "unknown"


def model_files(name: str) -> ModelFiles:
    """The size, parameters and licence of a folder or of a hub model."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        size = sum(file.stat().st_size for pattern in FILES for file in folder.glob(pattern))
        return ModelFiles(
            folder.resolve().name, size, sum(map(_count_parameters, folder.glob("*.safetensors")))
        )
    info = HfApi().model_info(name, files_metadata=True, timeout=5.0)
    files = filter_repo_objects(
        info.siblings or (),
        allow_patterns=FILES,
        ignore_patterns=SUBFOLDERS,
        key=lambda file: file.rfilename,
    )
    licences = (
        tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")
    )
    parameters = getattr(info.safetensors, "total", None)
    return ModelFiles(
        name, sum(file.size or 0 for file in files), parameters, next(licences, "unknown")
    )


def _count_parameters(file: Path) -> int:
    try:
        with safe_open(file, framework="np") as weights:
            return sum(prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{file.name} is damaged: {error}. Save the model again.") from None


def hub_answers(seconds: float = 1.0) -> bool:
    """Whether the hub answers in time, whatever it says."""
    try:
        get_session().head(constants.ENDPOINT, timeout=seconds)
    except Exception:  # no network, no time, or none is wanted (HF_HUB_OFFLINE)
        return False
    return True
