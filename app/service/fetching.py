"""Pairs that a visitor names: looked at first, downloaded with progress, until everybody who waits
has left."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic

import psutil
from huggingface_hub import constants, snapshot_download
from tqdm.auto import tqdm

from specviz.base.progress import time_left
from specviz.models import hub
from specviz.models.base import Pair
from specviz.models.catalogue import CATALOGUE
from specviz.models.hub import RANDOM

from . import sizes
from .http.server import local
from .loading import Loading, Offer
from .offers import load_named, short_label
from .pair_ref import PairRef
from .sizes import size


def any_pair() -> Callable[[PairRef], Offer] | None:
    """How a pair that a visitor names is offered, on a page for this machine only, whose visitor
    may read its files; None elsewhere."""
    if not local() or os.environ.get("SPECVIZ_PAIR", "").strip():
        return None
    return lambda ref: Offer(short_label(ref), load_fetched)


def load_fetched(ref: PairRef, loading: Loading) -> Pair:
    """Load a pair whose files may have to be downloaded first; `loading.unwanted` ends that."""
    roles = {"target": ref.target, "draft": ref.draft}
    # Layers of the target, random weights, our own models and single files need no download.
    names = {}
    for role, name in roles.items():
        is_here = name.startswith(("early-exit", RANDOM)) or name in CATALOGUE
        if name and not is_here and not Path(name).expanduser().is_file():
            names[role] = name
    # Before anything is downloaded, which may take an hour for models that do not fit.
    try:
        need = sum(map(sizes.needed, names.values()))
    except Exception:  # offline, or a name is wrong: what follows says which, or takes what is here
        need = 0.0
    free = psutil.virtual_memory().available
    if need > free:
        raise ValueError(
            f"The models need about {size(need)} of memory, but only {size(free)} are free. Choose "
            "smaller models."
        )
    try:
        for role, name in names.items():
            sizes.check_layers(role, download(role, name, loading))
    except _Stopped:
        raise ValueError("Loading was stopped. Downloaded files are kept.") from None
    return load_named(ref, loading)


def download(role: str, name: str, loading: Loading) -> Path:
    """The folder of a model, after fetching what is missing in it."""
    began = monotonic()

    def report(done: int, total: int) -> None:
        if loading.unwanted.is_set():
            raise _Stopped
        left = time_left(monotonic() - began, done, total)
        loading.report(
            done / max(total, 1), f"Downloading the {role}: {size(done)} of {size(total)}{left}"
        )

    # Its own threads cannot be stopped. An exception in `report` stops the others: they call it
    # through the progress bar, for which the hub's client has no other way out.
    constants.HF_HUB_DISABLE_XET = True
    return hub.model_folder(
        role, name, download=partial(snapshot_download, tqdm_class=_progress_bar(report))
    )


class _Stopped(BaseException):
    """Raised where a download was to be stopped."""


def _progress_bar(report: Callable[[int, int], None]) -> type[tqdm]:
    """A class of progress bars that prints nothing, and reports the bytes of those that count
    bytes."""

    class Bar(tqdm):
        def __init__(self, *args: object, **options: object) -> None:
            # The hub's client opens three bars: one counts files, one the bytes of files, and
            # "Downloading bytes" what travels for them, which is less where parts are known.
            title = str(options.get("desc"))
            self.counts_bytes = options.get("unit") == "B" and "Download" not in title
            super().__init__(*args, **options | {"disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0
            self.refresh()

        def refresh(self, *args: object, **options: object) -> None:
            if self.counts_bytes:
                report(int(self.n), int(self.total or 0))

    return Bar
