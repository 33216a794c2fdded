"""From a name to a folder: a local one, or a model of the Hugging Face hub in its cache, downloaded
if need be."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError

SMALL_FILES = ["*.json", "*.txt", "*.model", "*.jinja"]
FILES = [*SMALL_FILES, "*.safetensors"]  # never pickles
SUBFOLDERS = ["*/*"]
TIMEOUT = 10.0  # seconds
RANDOM = "random:"  # with which the names of random weights begin, which are in no folder


def model_folder(
    role: str, name: str, weights: bool = True, download: Callable[..., str] = snapshot_download
) -> Path:
    """The folder of a model, a `ValueError` if it cannot be had; files that are not here yet are
    downloaded.

    Args:
        role: "target" or "draft", as errors name it.
        name: a folder, or a name on the hub.
        weights: whether the weights are needed as well.
        download: gets the files; takes what `snapshot_download` takes.
    """
    folder = Path(name).expanduser()
    if name.strip() and folder.is_dir():
        if not ((folder / "config.json").is_file() and any(folder.glob("*.safetensors"))):
            must = "must hold config.json and *.safetensors, the only weights that are read"
            raise ValueError(f"{role} folder {name!r} {must}. Save the model with save_pretrained.")
        return folder
    patterns: dict[str, Any] = {
        "allow_patterns": FILES if weights else SMALL_FILES,
        "ignore_patterns": SUBFOLDERS,
    }
    try:
        with suppress(OSError):  # it is not in the cache
            cached = Path(snapshot_download(name, local_files_only=True, **patterns))
            if not weights or _is_complete(cached):
                return cached
        HfApi().model_info(name, timeout=TIMEOUT)
        return Path(download(name, **patterns))
    except HFValidationError:
        problem = (
            "is neither a folder here nor a name on the hub. Give a model folder or org/model."
        )
    except GatedRepoError:
        problem = "is a gated model. Log in to the hub with access to it."
    except RepositoryNotFoundError:
        problem = "is not on the Hugging Face hub. Check the spelling of org/model."
    except Exception as error:
        reason = f"the Hugging Face hub cannot be reached ({type(error).__name__})"
        problem = (
            f"is not on this machine and {reason}. Give a local model folder, or try again online."
        )
    raise ValueError(f"{role} {name!r} {problem}")


def _is_complete(folder: Path) -> bool:
    index = folder / "model.safetensors.index.json"
    names = (
        set(json.loads(index.read_text())["weight_map"].values())
        if index.is_file()
        else {"model.safetensors"}
    )
    return all((folder / name).is_file() for name in names)
