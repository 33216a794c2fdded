"""The pairs a visitor may choose: the embedded one, its target drafting for itself, and what the environment adds."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import specviz

EMBEDDED = "Embedded pair"
EARLY_EXIT = "Embedded target, its first 3 layers as draft"

Pairs = dict[str, Callable[[], Any]]  # title -> loads it


def offered() -> Pairs:
    """Every pair by its title, the first of which is the page's own.

    SPECVIZ_PAIR=toy offers exact toy tables and nothing else; SPECVIZ_PAIRS adds pairs, "target|draft" separated by
    commas, each a folder or a name on the hub; a draft may be "early-exit:N", or missing.

    Raises:
        ValueError: if SPECVIZ_PAIRS is not written like that.
    """
    if os.environ.get("SPECVIZ_PAIR") == "toy":
        return {"Exact toy tables": partial(specviz.toy_pair, vocab=12)}
    pairs: Pairs = {EMBEDDED: _load, EARLY_EXIT: partial(_load, draft="early-exit:3")}
    for written in filter(None, map(str.strip, os.environ.get("SPECVIZ_PAIRS", "").split(","))):
        target, _, draft = (part.strip() for part in written.partition("|"))
        if not target or "|" in draft:
            raise ValueError(f'SPECVIZ_PAIRS must be like "target|draft, target|draft"; got {written!r}.')
        names = [name.rstrip("/").rsplit("/", 1)[-1] for name in (target, draft) if name]
        pairs[" + ".join(names)] = partial(_load, target=target, draft=draft or None)
    return pairs


def default_pair() -> Any:
    """The first pair, loaded."""
    return next(iter(offered().values()))()


def _load(**names: str | None) -> Any:
    return specviz.load_pair(**names)  # looked up when it is called: torch comes with the first run
