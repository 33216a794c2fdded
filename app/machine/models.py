"""The pairs a visitor may choose: the embedded one, its target as its own draft, and what the
environment adds."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import specviz

from . import limits
from .fetching import NamedPair
from .server import local, on_a_space

log = logging.getLogger(__name__)
EMBEDDED = "Embedded pair"
EARLY_EXIT = "Embedded target, its first 3 layers as draft"
ON_DISK = (
    ", weights on disk"  # ends the title of a pair whose weights are read again for every pass
)

ON_THE_HUB = re.compile(r"\w[\w.-]*/\w[\w.-]*|early-exit:\d+", re.ASCII)
MAX_NAMES = 400  # characters of what a visitor types

Pairs = dict[str, Callable[..., Any]]  # title -> loads it


def offered() -> Pairs:
    """Every pair by its title, the first of which is the page's own.

    SPECVIZ_PAIR=toy offers exact toy tables and nothing else; SPECVIZ_PAIRS adds pairs,
    "target|draft" separated by commas, each a folder or a name on the hub; a draft may be
    "early-exit:N", or missing.

    Raises:
        ValueError: if SPECVIZ_PAIRS is not written like that.
    """
    only = os.environ.get("SPECVIZ_PAIR", "").strip()
    if only not in ("", "toy"):
        raise ValueError(
            f'SPECVIZ_PAIR must be "toy", or omitted for the embedded pair; got {only[:40]!r}.'
        )
    if only:
        return {"Exact toy tables": partial(specviz.toy_pair, vocab=12)}
    pairs: Pairs = {EMBEDDED: _load, EARLY_EXIT: partial(_load, draft="early-exit:3")}
    for names in filter(None, map(str.strip, os.environ.get("SPECVIZ_PAIRS", "").split(","))):
        target, draft = _split(names, 'SPECVIZ_PAIRS must be like "target|draft, target|draft"')
        title = " + ".join(name.rstrip("/").rsplit("/", 1)[-1] for name in (target, draft) if name)
        pairs[title] = partial(_load, target=target, draft=draft)
    disk = {title + ON_DISK: OnDisk(load) for title, load in pairs.items() if title != EARLY_EXIT}
    return pairs | disk


class OnDisk:
    """Loads a pair with its target's weights on disk; `status` is a sentence on how far it is."""

    def __init__(self, load: Callable[..., Any]) -> None:
        self.load, self.status = load, ""

    def __call__(self) -> Any:
        return self.load(offload="disk", progress=self._report)

    def _report(self, fraction: float, message: str) -> None:
        self.status = f"{message}."


def on_disk(title: Any) -> bool:
    """Whether a title is that of a pair whose weights are read from disk for every pass."""
    return isinstance(title, str) and title.endswith(ON_DISK)


def place(pairs: Pairs) -> None:
    """Load the weights of these pairs now; one that fails is left to its first run, which tells the
    visitor why.

    For processes that have no GPU yet, as on ZeroGPU: what was placed before is on the GPU as soon
    as one is borrowed.
    """
    from specviz.models.early_exit import count_layers
    from specviz.models.loading import choose_device, choose_dtype, load_model, placed
    from specviz.models.pair import pair_names

    device = choose_device("auto")
    dtype = choose_dtype("auto", device)
    for title, load in pairs.items():
        if on_disk(title) or (load is not _load and getattr(load, "func", None) is not _load):
            continue  # exact tables have no weights, and those on disk stay there
        try:
            names = pair_names(**{"target": None, "draft": None} | getattr(load, "keywords", {}))
            for role, name in zip(("target", "draft"), names, strict=True):
                if name is not None and not count_layers(name):
                    placed[name, device, dtype] = load_model(role, name, device, dtype)
        except Exception:
            log.exception("%s cannot be loaded at the start", title)


def others() -> Callable[[str], Callable[[], Any]] | None:
    """How a pair that a visitor names is loaded: "target|draft", as in SPECVIZ_PAIRS; None where it
    may not be.

    A page for this machine only takes any pair unless SPECVIZ_CUSTOM=0; another one takes names on
    the hub with SPECVIZ_CUSTOM=1; a Space takes none.
    """
    if on_a_space() or os.environ.get("SPECVIZ_PAIR", "").strip():
        return None
    return _named_pair if limits.flag("SPECVIZ_CUSTOM", local()) else None


def _named_pair(names: str) -> NamedPair:
    if len(names) > MAX_NAMES:
        raise ValueError(f"Model pair must have at most {MAX_NAMES} characters; got {len(names)}.")
    target, draft = _split(
        names, 'Model pair must be chosen from the menu or typed like "target|draft"'
    )
    for name in (target, draft):
        if name and not local() and not (ON_THE_HUB.fullmatch(name) and not Path(name).is_dir()):
            raise ValueError(
                f"A model must be a name on the hub here, such as org/model; got {name!r}."
            )
    return NamedPair(target, draft)


def _split(names: str, must: str) -> tuple[str, str | None]:
    target, _, draft = (part.strip() for part in names.partition("|"))
    if not target or "|" in draft:
        raise ValueError(f"{must}; got {names!r}.")
    return target, draft or None


def _load(**names: Any) -> Any:
    return specviz.load_pair(**names)  # looked up when it is called: torch comes with the first run
