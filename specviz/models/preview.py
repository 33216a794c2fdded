"""What can be known of a pair before its weights are loaded."""

from __future__ import annotations

from dataclasses import dataclass

from .early_exit import count_layers
from .hub import ModelFiles, model_files
from .loading import load_config, longest_text
from .pair import read_tokenizers
from .shapes import RANDOM
from .vocabulary import translation


@dataclass(frozen=True)
class Preview:
    """A pair that was not loaded.

    Args:
        models: the files and parameters of the target, and of a draft with weights of its own.
        tokens: sizes of their vocabularies.
        common: how many tokens both have; None where the vocabularies are the same.
        longest: the longest text that both can read, in tokens.
    """

    models: tuple[ModelFiles, ...]
    tokens: tuple[int, ...]
    common: int | None
    longest: int


def preview(target: str, draft: str | None) -> Preview:
    """Look at a pair; only configurations, tokenizers and the headers of weights are read.

    Args:
        target, draft: as in `load_pair`.

    Raises:
        ValueError: if it is known already that the pair cannot be loaded.
    """
    names = [target] if draft is None or count_layers(draft) else [target, draft]
    tokenizer, other = read_tokenizers(target, draft)
    longest = min(longest_text(role, load_config(role, name)) for role, name in zip(("target", "draft"), names))  # noqa: B905
    common = None
    if other is not None:
        common = len(translation(tokenizer, other, len(tokenizer), len(other)).target_ids)
    tokens = tuple(_size(side) for side in (tokenizer, other or tokenizer))[: len(names)]
    return Preview(tuple(map(_files, names)), tokens, common, longest)


def _size(tokenizer: object) -> int:
    return getattr(tokenizer, "vocab_size", 0) if not hasattr(tokenizer, "__len__") else len(tokenizer)


def _files(name: str) -> ModelFiles:
    """The files of a model; without sizes for random weights, and where the hub does not answer."""
    try:
        return ModelFiles(name, 0, None) if name.startswith(RANDOM) else model_files(name)
    except OSError:  # its tokenizer lies in the cache
        return ModelFiles(name, 0, None)
