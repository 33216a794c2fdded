"""What can draft for a target besides a draft model, by the drafter's name: made from it, or found beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..passes.huggingface import HuggingFaceModel
from .eagle import load_layer
from .early_exit import first_layers, without_layers
from .heads import load_heads
from .learning import LearningModel
from .selftest import check_tree_reading
from .translated import TranslatedModel


def _early_exit(pair: Any, layers: int) -> Any:
    model = first_layers(pair.target, layers)
    check_tree_reading("draft", model, pair.target)
    return model


def _layer_skip(pair: Any, skip: Sequence[int]) -> Any:
    model = without_layers(pair.target, skip)
    check_tree_reading("draft", model)
    return model


def _medusa(pair: Any, heads: int) -> Any:
    return load_heads(_folder(pair, "medusa"), pair.target, heads)


def _eagle(pair: Any) -> Any:
    return load_layer(_folder(pair, "eagle"), pair.target)


def _online(pair: Any, rate: float) -> Any:
    if isinstance(pair.draft, TranslatedModel):
        raise ValueError(
            "Learning draft needs a draft with the target's vocabulary; this pair's draft has another one. "
            "Choose another drafter."
        )
    if type(pair.draft) is not HuggingFaceModel:
        raise ValueError(
            "Learning draft needs a draft with weights of its own; this pair has none. "
            "Load one, or choose another drafter."
        )
    return LearningModel(pair.draft, rate)


def _folder(pair: Any, kind: str) -> Path:
    """Where a target's trained drafters lie: in folders beside its own."""
    if pair.beside is None:
        raise ValueError(f"{kind} is looked for beside the target's folder; this target has none. Choose another.")
    return pair.beside / kind


DRAFTS: dict[str, Callable[..., Any]] = {
    "early-exit": _early_exit,
    "layer-skip": _layer_skip,
    "medusa": _medusa,
    "eagle": _eagle,
    "online": _online,
}


def draft_model(pair: Any, kind: str, **parameters: Any) -> Any:
    """An object whose `open(tokens, target)` makes a session that drafts for the pair's target.

    Raises:
        ValueError: if this pair has no such thing; the message says what to do.
    """
    if kind not in DRAFTS:
        raise ValueError(f"drafter must be one of {', '.join(DRAFTS)}; got {kind!r}.")
    return DRAFTS[kind](pair, **parameters)
