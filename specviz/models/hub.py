"""Models of a hub before they are here: whether one answers, how large they are, and bytes as they come.

The hub is the one that HF_ENDPOINT names. Only files that are loaded here are fetched: safetensors, never pickles.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import Any
from urllib.request import Request, urlopen

KEPT = (".safetensors", ".json", ".txt", ".model")
ANSWER = 1.0  # seconds that a hub has to answer at all


class Stopped(Exception):
    """Raised where a download was to be stopped."""


@dataclass(frozen=True)
class Listed:
    """What a hub tells of a model.

    Args:
        name: on the hub.
        files: file name -> bytes, of those that are loaded.
        parameters: how many, or None where the hub does not know.
        licence: its short name, or "unknown".
    """

    name: str
    files: dict[str, int]
    parameters: int | None
    licence: str

    @property
    def bytes(self) -> int:
        """The size of all its files, in bytes."""
        return sum(self.files.values())


def answers(seconds: float = ANSWER) -> bool:
    """Whether the hub answers in time, whatever it says."""
    if os.environ.get("HF_HUB_OFFLINE", "").upper() in ("1", "ON", "YES", "TRUE"):
        return False
    from huggingface_hub import constants

    try:
        with urlopen(Request(constants.ENDPOINT, method="HEAD"), timeout=seconds):
            return True
    except OSError as error:
        return hasattr(error, "code")  # it answered, with an error


def listed(name: str, seconds: float = 5.0) -> Listed:
    """What the hub tells of a model; raises what `huggingface_hub` does."""
    from huggingface_hub import HfApi

    info = HfApi().model_info(name, files_metadata=True, timeout=seconds)
    files = {one.rfilename: one.size or 0 for one in info.siblings or () if "/" not in one.rfilename}
    tags = [tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")]
    total = getattr(info.safetensors, "total", None)
    return Listed(name, {n: s for n, s in files.items() if n.endswith(KEPT)}, total, tags[0] if tags else "unknown")


def fetch(model: Listed, report: Callable[[int], None], left: Event) -> None:
    """Bring a model's files into the cache; what is there already is not fetched again.

    Args:
        model: from `listed`.
        report: gets how many bytes of it are there so far.
        left: when it is set, the download ends at the next piece; what came is kept for another time.

    Raises:
        Stopped: if it was.
    """
    from huggingface_hub import constants, hf_hub_download

    constants.HF_HUB_DISABLE_XET = True  # its own threads could not be stopped
    done = 0
    for name, size in model.files.items():
        if left.is_set():
            raise Stopped
        hf_hub_download(model.name, name, tqdm_class=partial(_Counter, done, report, left))
        done += size
        report(done)


class _Counter:
    """Replaces the progress bar of `huggingface_hub`: counts from `done`."""

    def __init__(self, done: int, report: Callable[[int], None], left: Event, initial: float = 0, **_: Any) -> None:
        self.came, self.report, self.left = done + int(initial), report, left

    def __enter__(self) -> _Counter:
        return self

    def __exit__(self, *_: Any) -> None:
        pass

    def update(self, n: float = 1) -> None:
        if self.left.is_set():
            raise Stopped
        self.came += int(n)
        self.report(self.came)
