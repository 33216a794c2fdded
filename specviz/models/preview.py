"""What can be known of a pair before its weights are loaded."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from pathlib import Path

from .early_exit import layers_asked
from .hub import KEPT, Listed, listed
from .loading import load_config, longest_text
from .pair import look_at
from .vocabulary import translation


@dataclass(frozen=True)
class Preview:
    """A pair that was not loaded.

    Args:
        target: its files and parameters.
        draft: the same; None where there is none, or where it is made of the target's layers.
        tokens, draft_tokens: sizes of the vocabularies; None without a draft of its own.
        common: how many tokens both have; None where the vocabularies are the same.
        longest: the longest text that both can read, in tokens.
    """

    target: Listed
    draft: Listed | None
    tokens: int
    draft_tokens: int | None
    common: int | None
    longest: int


def preview(target: str, draft: str | None) -> Preview:
    """Look at a pair; only configurations, tokenizers and the headers of weights are read.

    Args:
        target, draft: as in `load_pair`.

    Raises:
        ValueError: if it is known already that the pair cannot be loaded.
    """
    own = draft if draft and not layers_asked(draft) else None
    ours, theirs = look_at(target, draft)
    longest = min(longest_text(role, load_config(role, name)) for role, name in _named(target, own))
    common = None
    if theirs is not None:
        common = len(translation(ours, theirs, len(ours), len(theirs)).ours)
    draft_tokens = len(ours if theirs is None else theirs) if own else None
    return Preview(files_of(target), files_of(own) if own else None, len(ours), draft_tokens, common, longest)


def files_of(name: str) -> Listed:
    """The files of a folder, or of a hub model; without sizes where the hub does not answer."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        try:
            return listed(name)
        except Exception:  # it lies in the cache, or its look would have failed
            return Listed(name, {}, None, "unknown")
    files = [file for file in folder.iterdir() if file.suffix in KEPT and file.is_file()]
    parameters = sum(map(_parameters, folder.glob("*.safetensors")))
    return Listed(folder.resolve().name, {file.name: file.stat().st_size for file in files}, parameters, "unknown")


def _parameters(file: Path) -> int:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as weights:
            return sum(prod(weights.get_slice(key).get_shape()) for key in weights.keys())  # noqa: SIM118
    except SafetensorError as error:
        raise ValueError(f"{file.name} is damaged: {error}. Save the model again.") from None


def _named(target: str, draft: str | None) -> list[tuple[str, str]]:
    return [("target", target), *([("draft", draft)] if draft else [])]
