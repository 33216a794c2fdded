"""From a name to a folder: a local one, a model of the catalogue or a GGUF file as prepared in the
cache, or a model of the Hugging Face hub in its cache, downloaded if need be."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import GatedRepoError, HFValidationError, RepositoryNotFoundError
from tqdm import tqdm

from ..base.errors import cause
from .catalogue import CATALOGUE, is_prepared_here, prepare
from .formats.gguf import is_gguf

SMALL_FILES = ["*.json", "*.txt", "*.model", "*.jinja"]
FILES = [*SMALL_FILES, "*.safetensors"]  # never pickles
SUBFOLDERS = ["*/*"]
TIMEOUT = 10.0  # seconds
Report = Callable[[float, str], None]  # gets the fraction done and what is being done
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
    if is_prepared_here(name):
        return prepared_folder(role, name)
    folder = Path(name).expanduser()
    if name.strip() and folder.is_dir():
        if not ((folder / "config.json").is_file() and any(folder.glob("*.safetensors"))):
            raise ValueError(
                f"{role} folder {name!r} must hold config.json and *.safetensors. Save the model "
                "with save_pretrained, or name a .gguf file itself."
            )
        return folder
    # What people try: the weights themselves in place of their folder.
    if folder.is_file():
        raise ValueError(f"{role} {name!r} is a file. Give the folder that it is in.")
    if is_gguf(name):
        raise ValueError(f"{role} {name!r} is no file here. Check the path.")
    patterns: dict[str, list[str]] = {
        "allow_patterns": FILES if weights else SMALL_FILES,
        "ignore_patterns": SUBFOLDERS,
    }
    try:
        # The cache first, which needs no network.
        with suppress(OSError):  # it is not in the cache
            cached = Path(snapshot_download(name, local_files_only=True, **patterns))
            if not weights or all(file.is_file() for file in weight_files(cached)):
                return cached
        # Asked for its errors: a name that is unknown or gated fails here, with a reason.
        HfApi().model_info(name, timeout=TIMEOUT)
        return Path(download(name, **patterns))
    except HFValidationError:
        problem = (
            "is neither a folder nor a .gguf file here, nor a name on the hub. Give one of these, "
            f"or {' or '.join(CATALOGUE)}."
        )
    except GatedRepoError:
        problem = "is a gated model. Log in to the hub with access to it."
    except RepositoryNotFoundError:
        problem = "is not on the Hugging Face hub. Check the spelling of org/model."
    except Exception as error:
        reason = getattr(error, "strerror", None) or cause(error)
        problem = (
            "is not complete on this machine and cannot be had from the Hugging Face hub "
            f"({reason}). Give a local model folder, or try again later."
        )
    raise ValueError(f"{role} {name!r} {problem}")


def prepared_folder(role: str, name: str, report: Report = lambda fraction, stage: None) -> Path:
    """The folder of a model that is prepared here, with a progress bar on a terminal.

    Args:
        role, name: as for `model_folder`.
        report: gets the fraction done and what is being done.
    """
    folder = None
    bar_format = "{desc}: {percentage:3.0f}% |{bar}| {elapsed}"
    try:
        with tqdm(total=1.0, bar_format=bar_format, leave=False, disable=None) as bar:
            for progress in prepare(name):
                fraction = progress.share
                report(fraction, progress.stage)
                bar.set_description(progress.stage, refresh=False)
                bar.update(fraction - bar.n)
                folder = progress.result
    except ValueError as error:
        raise ValueError(f"{role} {name!r} cannot be loaded: {error}") from error
    assert folder is not None  # the last result
    return folder


def weight_files(folder: Path) -> list[Path]:
    """The files of a folder that hold its weights, by its index where it has one; other copies, in
    other spellings, may lie beside them."""
    index = folder / "model.safetensors.index.json"
    if index.is_file():
        # A large model is in several files, and the index says which tensor is in which.
        names = set(json.loads(index.read_text())["weight_map"].values())
        return [folder / name for name in sorted(names)]
    whole = folder / "model.safetensors"
    if whole.is_file():
        return [whole]
    return sorted(folder.glob("*.safetensors")) or [whole]
