"""A pair by its two names: checked first, downloaded with progress, stopped when no visitor
waits."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from threading import Event, Lock
from time import monotonic
from typing import Any

import psutil
from huggingface_hub import constants, snapshot_download
from tqdm.auto import tqdm

import specviz
from specviz.models import hub
from specviz.models.hub import RANDOM

from . import limits, model_files
from .model_files import ModelFiles
from .server import local

OTHER = " (two vocabularies)"
PAIRS = {  # title -> target, draft
    "SmolLM2 1.7B + 135M": ("HuggingFaceTB/SmolLM2-1.7B", "HuggingFaceTB/SmolLM2-135M"),
    "Qwen3 4B + 0.6B": ("Qwen/Qwen3-4B", "Qwen/Qwen3-0.6B"),
    "Llama 3.2 3B + 1B": ("meta-llama/Llama-3.2-3B", "meta-llama/Llama-3.2-1B"),
    "GPT-2 XL + DistilGPT-2": ("openai-community/gpt2-xl", "distilbert/distilgpt2"),
    "Pythia 1.4B + 70M": ("EleutherAI/pythia-1.4b", "EleutherAI/pythia-70m"),
    f"Qwen3 4B + SmolLM2 135M{OTHER}": ("Qwen/Qwen3-4B", "HuggingFaceTB/SmolLM2-135M"),
    f"GPT-2 XL + SmolLM2 135M{OTHER}": ("openai-community/gpt2-xl", "HuggingFaceTB/SmolLM2-135M"),
    f"TinyLlama 1.1B + SmolLM2 135M{OTHER}": (
        "TinyLlama/TinyLlama-1.1B-Chat-v1.0",
        "HuggingFaceTB/SmolLM2-135M",
    ),
}
ROOM = 1.3  # memory that loading takes beyond the weights
AGAIN = 600.0  # seconds after which the hub is asked again
NO_HUB = "The hub did not answer within a second, so well-known pairs are not available."


class NamedPair:
    """Loads a pair of folders or hub names; `status` is a sentence on how far it is."""

    def __init__(self, target: str, draft: str | None) -> None:
        self.target, self.draft, self.status, self._stopped = target, draft, "", Event()

    def check(self) -> None:
        """Raise a `ValueError` for what can be known to be wrong without its weights."""
        from specviz.models.pair import read_tokenizers

        read_tokenizers(self.target, self.draft)

    def stop(self) -> None:
        """No visitor waits: end the download."""
        self._stopped.set()

    def __call__(self) -> Any:
        self._stopped.clear()
        names = {"target": self.target, "draft": self.draft or "early-exit"}
        names = {
            role: name
            for role, name in names.items()
            if not name.startswith(("early-exit", RANDOM))
        }
        try:
            problem = too_large([model_files.model_files(name) for name in names.values()])
        except (
            Exception
        ):  # offline, or a name is wrong: what follows says which, or takes what is here
            problem = ""
        if problem:
            raise ValueError(problem)
        try:
            for role, name in names.items():
                self._download(role, name)
        except _Stopped:
            raise ValueError("Loading was stopped. Downloaded files are kept.") from None
        self.status = "Loading the models. This happens once."
        return specviz.load_pair(
            target=self.target, draft=self.draft
        )  # looked up when called: torch comes with it

    def _download(self, role: str, name: str) -> None:
        began = monotonic()

        def report(done: int, total: int) -> None:
            if self._stopped.is_set():
                raise _Stopped
            spent = monotonic() - began
            left = (
                f", about {spent * (total - done) / done:.0f} s left"
                if 0 < done < total and spent > 1
                else ""
            )
            self.status = f"Downloading the {role}: {size(done)} of {size(total)}{left}."

        constants.HF_HUB_DISABLE_XET = True  # its own threads cannot be stopped
        hub.model_folder(
            role, name, download=partial(snapshot_download, tqdm_class=_progress_bar(report))
        )


class _Stopped(BaseException):
    """Raised where a download was to be stopped."""


def _progress_bar(report: Callable[[int, int], None]) -> Any:
    """A class of progress bars that prints nothing, and reports the bytes of those that count
    bytes."""

    class Bar(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            self.counts_bytes = options.get("unit") == "B" and "Download" not in str(
                options.get("desc")
            )
            super().__init__(*args, **options | {"disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0
            self.refresh()

        def refresh(self, *args: Any, **options: Any) -> None:
            if self.counts_bytes:
                report(int(self.n), int(self.total or 0))

    return Bar


Menu = tuple[
    list[tuple[str, str]], str
]  # what the menu of models gains: (label, value) of pairs, and a sentence


class Hub:
    """What a hub offers of the well-known pairs, with size and licence; asked when a page opens,
    and then rarely."""

    def __init__(self) -> None:
        self.pairs = {"|".join(pair): NamedPair(*pair) for pair in PAIRS.values()}
        self._lock, self._until = Lock(), 0.0
        self._menu: Menu | None = None

    def menu(self) -> Menu:
        """The pairs that the hub has; a sentence where none answers within a second."""
        with self._lock:
            if self._menu is None or monotonic() > self._until:
                self._menu, self._until = self._ask(), monotonic() + AGAIN
            return self._menu

    def _ask(self) -> Menu:
        if not model_files.hub_answers():
            return [], NO_HUB
        names = list(dict.fromkeys(name for pair in PAIRS.values() for name in pair))
        with ThreadPoolExecutor(len(names)) as pool:
            files = dict(zip(names, pool.map(_files_or_none, names), strict=True))
        rows = [
            (title, pair, [model for name in pair if (model := files[name])])
            for title, pair in PAIRS.items()
        ]
        choices = [
            (label(title, models), "|".join(pair))
            for title, pair, models in rows
            if len(models) == len(pair)
        ]
        return choices, "Well-known pairs are downloaded from the hub at their first run."


def _files_or_none(name: str) -> ModelFiles | None:
    try:
        return model_files.model_files(name)
    except Exception:  # not on this hub, or only for those its owner admits
        return None


def label(title: str, models: list[ModelFiles]) -> str:
    """A pair in the menu: size, licence, and whether it fits."""
    licences = " and ".join(dict.fromkeys(model.licence for model in models))
    fits = (
        "✕ too large for this machine's memory"
        if too_large(models)
        else "fits this machine's memory"
    )
    return f"{title} · {size(sum(model.bytes for model in models))} · {licences} · {fits}"


def too_large(models: list[ModelFiles]) -> str:
    """A sentence where models do not fit into this machine's free memory; nothing where they do."""
    free, need = psutil.virtual_memory().available, needed(models)
    if need <= free:
        return ""
    return (
        f"The models need about {size(need)} of memory, but only {size(free)} are free. Choose "
        "smaller models."
    )


def needed(models: list[ModelFiles]) -> float:
    """Bytes of memory that models need while they are loaded: in bfloat16 where the processor
    computes in it."""
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        flags = ""
    width = 2 if "avx512_bf16" in flags or "amx_bf16" in flags else 4
    return ROOM * sum(
        width * model.parameters if model.parameters else model.bytes for model in models
    )


def size(count: float) -> str:
    """Bytes in words."""
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"


def may_fetch() -> bool:
    """Whether well-known pairs may be fetched: if the page is served to this machine only, or
    SPECVIZ_HUB is 1.

    Raises:
        ValueError: if SPECVIZ_HUB is neither 0 nor 1.
    """
    if os.environ.get("SPECVIZ_HUB", "").strip():
        return limits.flag("SPECVIZ_HUB")
    return not os.environ.get("SPECVIZ_PAIR", "").strip() and local()
