"""Which models a pair is made of where not all are named, and what they are called."""

from __future__ import annotations

import os
from pathlib import Path

from ..base.errors import ParameterError
from ..base.files import PAIR
from .catalogue import CATALOGUE, default_draft
from .early_exit import count_layers
from .heads.loading import target_of_head


def pair_names(target: str | Path | None, draft: str | Path | None) -> tuple[str, str | None]:
    """The folders or names of both models: the embedded ones where none is given, and a draft of
    its own where a target of the catalogue has one."""
    if target is None:
        target = target_of_head(draft)
    if target is None:
        target = PAIR / "target"
        embedded = PAIR / "draft"
        if draft is None:
            draft = embedded
        is_embedded = Path(draft).expanduser().resolve() == embedded.resolve()
        # Another draft has another vocabulary than the embedded target, or other texts to guess.
        if not count_layers(str(draft)) and not is_embedded:
            must = (
                f"be given with the draft {str(draft)!r}, which was not made for the embedded "
                "target"
            )
            raise ParameterError("target", must)
    if draft is None:
        draft = default_draft(str(target))
    return str(target), None if draft is None else str(draft)


def pair_name(target: str, draft: str | None) -> str:
    """The names of both models; one name where the draft is the target's own."""
    if target in CATALOGUE and draft == default_draft(target):
        return target
    names = [short_name(name) for name in (target, draft) if name is not None]
    if names == ["embedded target", "embedded draft"]:
        return "embedded pair"
    return " + ".join(names)


def short_name(name: str) -> str:
    """A hub name unchanged, a folder or file by its last part, without its location on this
    machine."""
    folder = Path(name).expanduser()
    # Where a package is installed is nobody's business in a file that is shared.
    if folder.parent == PAIR:
        return f"embedded {folder.name}"
    # `os.path.exists` is false for a name that no file can have, where `Path.exists` raises.
    is_here = os.path.exists(folder)
    if is_here and name not in CATALOGUE:
        return folder.resolve().name
    return name
