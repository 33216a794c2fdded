"""Pairs that a visitor names, and well-known ones: checked first, downloaded with progress,
until everybody who waits has left."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import chain
from pathlib import Path
from threading import Lock
from time import monotonic

from huggingface_hub import constants, snapshot_download
from tqdm.auto import tqdm

from specviz.base.errors import ParameterError
from specviz.base.files import ASSETS
from specviz.base.progress import time_left
from specviz.models import hub
from specviz.models.base import Pair
from specviz.models.catalogue import CATALOGUE
from specviz.models.hub import RANDOM

from . import limits, sizes
from .http.server import local, on_a_space
from .loading import Loading, Offer
from .offers import load_named, short_label
from .pair_ref import PairRef
from .process import Requests
from .sizes import ModelFiles, size

# label -> target, draft
WELL_KNOWN = json.loads((ASSETS / "well_known_pairs.json").read_text("utf-8"))
AGAIN = 600.0  # seconds after which the hub is asked again
ON_THE_HUB = re.compile(r"\w[\w.-]*/\w[\w.-]*|early-exit:\d+", re.ASCII)
MAX_NAMES = 400  # characters of what a visitor types


def others(requests: Requests) -> Callable[[PairRef], Offer] | None:
    """How a pair that a visitor names is offered; None where none may be named.

    A page for this machine only takes any pair unless SPECVIZ_CUSTOM=0; another one takes names on
    the hub with SPECVIZ_CUSTOM=1; a Space takes none.
    """
    if on_a_space() or os.environ.get("SPECVIZ_PAIR", "").strip():
        return None
    return partial(_offer, requests) if limits.flag("SPECVIZ_CUSTOM", local()) else None


def _offer(requests: Requests, ref: PairRef) -> Offer:
    if len(ref.models) > MAX_NAMES:
        must = f"have at most {MAX_NAMES} characters"
        raise ParameterError("models", must, len(ref.models))
    for name in filter(None, (ref.target, ref.draft)):
        if not local() and not (ON_THE_HUB.fullmatch(name) and not Path(name).is_dir()):
            raise ValueError(
                f"A model must be a name on the hub here, such as org/model; got {name!r}."
            )
    return Offer(short_label(ref), partial(load_own, requests), trusted=False)


def load_own(requests: Requests, ref: PairRef, loading: Loading) -> Pair:
    """Load a pair that a visitor names, after looking at all that can be known before.

    Raises:
        ValueError: if it cannot be had, or does not fit here.
    """
    # In the other process, which can be stopped: files of strangers are read there first.
    loading.note = "Reading configurations and tokenizers."
    requests.submit(loading.visitor, sizes.describe, ref.target, ref.draft).result()
    return load_fetched(ref, loading)


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
        problem = sizes.too_large([sizes.model_files(name) for name in names.values()])
    except Exception:  # offline, or a name is wrong: what follows says which, or takes what is here
        problem = ""
    if problem:
        raise ValueError(problem)
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


class Hub:
    """What a hub offers of the well-known pairs, with size and licence; asked when a page opens,
    and then rarely."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._until = 0.0
        self._offers: dict[str, Offer] = {}

    def offers(self) -> dict[str, Offer]:
        """The pairs that the hub has, by name; none where it does not answer."""
        with self._lock:
            if monotonic() > self._until:
                # All at once: a page that opens waits for the slowest answer and not for their sum.
                names = list(dict.fromkeys(chain.from_iterable(WELL_KNOWN.values())))
                with ThreadPoolExecutor(len(names)) as pool:
                    files = dict(zip(names, pool.map(_files_or_none, names), strict=True))
                self._offers = {}
                for title, pair in WELL_KNOWN.items():
                    models = [model for model in map(files.get, pair) if model]
                    if len(models) == len(pair):
                        offer = Offer(label(title, models), load_fetched)
                        self._offers[PairRef(*pair).models] = offer
                self._until = monotonic() + AGAIN
            return self._offers


def _files_or_none(name: str) -> ModelFiles | None:
    try:
        return sizes.model_files(name)
    except Exception:  # not on this hub, or only for those its owner admits
        return None


def label(title: str, models: list[ModelFiles]) -> str:
    """A pair in the menu: size, licence, and whether it fits."""
    licences = " and ".join(dict.fromkeys(model.licence for model in models))
    fits = "fits this machine's memory"
    if sizes.too_large(models):
        fits = "✕ too large for this machine's memory"
    return f"{title} · {size(sum(model.bytes for model in models))} · {licences} · {fits}"


def may_fetch() -> bool:
    """Whether well-known pairs may be fetched: if the page is served to this machine only, or
    SPECVIZ_HUB is 1.

    Raises:
        ValueError: if SPECVIZ_HUB is neither 0 nor 1.
    """
    return limits.flag("SPECVIZ_HUB", local() and not os.environ.get("SPECVIZ_PAIR", "").strip())
