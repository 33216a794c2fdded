"""From a name to a folder: a local one, or a model of the Hugging Face hub in its cache, downloaded if need be."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

SMALL_FILES = ["*.json", "*.txt", "*.model", "*.jinja"]
FILES = [*SMALL_FILES, "*.safetensors"]  # never pickles
TIMEOUT = 10.0  # seconds


class Stopped(Exception):
    """Raised where a download was to be stopped."""


@dataclass(frozen=True)
class ModelFiles:
    """What is known of a model before it is loaded."""

    name: str
    bytes: int
    parameters: int | None
    licence: str = "unknown"


def model_folder(role: str, name: str, weights: bool = True, report: Callable[[int, int], None] | None = None) -> Path:
    """The folder of a model, its files downloaded if they are not here yet."""
    folder = Path(name).expanduser()
    if name.strip() and folder.is_dir():
        _check_folder(role, name, folder)
        return folder
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

    options = {"allow_patterns": FILES if weights else SMALL_FILES, "ignore_patterns": ["*/*"]}
    try:
        cached = Path(snapshot_download(name, local_files_only=True, **options))
        if not weights or _is_complete(cached):
            return cached
    except HFValidationError:
        message = f"{role} {name!r} is neither a folder here nor a name on the hub. Give a model folder or org/model."
        raise ValueError(message) from None
    except OSError:
        pass  # it is not in the cache
    try:
        HfApi().model_info(name, timeout=TIMEOUT)
        constants.HF_HUB_DISABLE_XET = True  # its own threads cannot be stopped
        return Path(snapshot_download(name, tqdm_class=_progress_bar(report), **options))
    except GatedRepoError:
        raise ValueError(f"{role} {name!r} is a gated model. Log in to the hub with access to it.") from None
    except RepositoryNotFoundError:
        raise ValueError(f"{role} {name!r} is not on the Hugging Face hub. Check the spelling of org/model.") from None
    except Stopped:
        raise
    except Exception as error:
        raise ValueError(
            f"{role} {name!r} is not on this machine and the Hugging Face hub cannot be reached "
            f"({type(error).__name__}). Give a local model folder, or try again online."
        ) from error


def _check_folder(role: str, name: str, folder: Path) -> None:
    try:
        json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{role} folder {name!r} has no config.json. Save it with save_pretrained.") from None
    except ValueError:
        raise ValueError(f"{role} folder {name!r} has a config.json that is not JSON. Save the model again.") from None
    if not any(folder.glob("*.safetensors")):
        raise ValueError(f"{role} folder {name!r} has no weights (*.safetensors, the only format that is read).")


def _is_complete(folder: Path) -> bool:
    index = folder / "model.safetensors.index.json"
    names = set(json.loads(index.read_text())["weight_map"].values()) if index.is_file() else {"model.safetensors"}
    return all((folder / name).is_file() for name in names)


def _progress_bar(report: Callable[[int, int], None] | None) -> Any:
    """A class of progress bars that prints nothing, and reports the bytes of those that count bytes."""
    from tqdm.auto import tqdm

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts_bytes = options.get("unit") == "B" and "Download" not in str(options.get("desc"))
            super().__init__(*args, **options | {"disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0
            self.refresh()

        def refresh(self, *args: Any, **options: Any) -> None:
            if report is not None and self.counts_bytes:
                report(int(self.n), int(self.total or 0))

    return Bar


def model_files(name: str) -> ModelFiles:
    """The size, parameters and licence of a folder or of a hub model."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        files = [file for pattern in FILES for file in folder.glob(pattern)]
        parameters = sum(map(_count_parameters, folder.glob("*.safetensors")))
        return ModelFiles(folder.resolve().name, sum(file.stat().st_size for file in files), parameters)
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, files_metadata=True, timeout=5.0)
    suffixes = tuple(pattern.removeprefix("*") for pattern in FILES)
    top = [file for file in info.siblings or () if "/" not in file.rfilename]
    size = sum(file.size or 0 for file in top if file.rfilename.endswith(suffixes))
    licence = next((tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")), "unknown")
    return ModelFiles(name, size, getattr(info.safetensors, "total", None), licence)


def _count_parameters(file: Path) -> int:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as weights:
            return sum(prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{file.name} is damaged: {error}. Save the model again.") from None


def hub_answers(seconds: float = 1.0) -> bool:
    """Whether the hub answers in time, whatever it says."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    from huggingface_hub import constants

    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=seconds):
            return True
    except OSError as error:
        return hasattr(error, "code")  # it answered, with an error


def free_memory() -> int | None:
    """Bytes of main memory that can be had without swapping; None where the system does not say."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable:")))
    except (OSError, StopIteration):
        return None
