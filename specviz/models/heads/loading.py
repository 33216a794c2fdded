"""From a folder with an EAGLE-3 head to a model that drafts for a target, checked on the way."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from copy import copy
from pathlib import Path
from typing import Any

import numpy as np
import torch

from ...base.errors import ParameterError
from ...passes.huggingface import HuggingFaceModel
from ..catalogue import CATALOGUE
from ..early_exit import count_layers
from ..hub import RANDOM, model_folder
from .eagle3 import Eagle3Head, Eagle3Model
from .format import HeadFormat, read_format, read_tensors

LEAST_AGREEMENT = 0.05  # with the target's first choices; by chance it is far less


def find_head(draft: str | Path | None) -> HeadFormat | None:
    """The format of the head that a draft is, None for any other draft; no weights are read.

    Raises:
        ValueError: as for `read_format`, or if there is no such folder or name.
    """
    name = "" if draft is None else str(draft)
    if not name or count_layers(name) or name.startswith(RANDOM):
        return None
    return read_format(model_folder("draft", name, weights=False))


def target_of_head(draft: str | Path | None) -> str | None:
    """The name of the target that a head in a folder was made for, where it or the catalogue says
    so."""
    folder = Path(draft or "").expanduser()
    # `os.path.isdir` is false for a name that no folder can have, where `Path.is_dir` raises.
    if not draft or not os.path.isdir(folder):
        return None
    folder = folder.resolve()
    form = find_head(draft)
    if form is None:
        return None
    own = (name for name, entry in CATALOGUE.items() if entry.head.resolve() == folder)
    return form.target or next(own, None)


def with_features(target: HuggingFaceModel, form: HeadFormat) -> HuggingFaceModel:
    """The same target, which gives its sessions the features that a head reads."""
    target = copy(target)  # other pairs of this target go on with their own
    target.feature_layers = tuple(sorted(set(form.feature_layers(target.layers))))
    return target


def checked_agreement(head: Eagle3Model, target: HuggingFaceModel, text: Sequence[int]) -> float:
    """The `greedy_agreement` along a sample; one that is next to nothing is logged.

    That is how a head looks whose table `d2t` was lost, or that reads other layers than those it
    was trained on.
    """
    agreement = greedy_agreement(head, target, text)
    if agreement < LEAST_AGREEMENT:
        logging.getLogger(__name__).warning(
            "The draft head proposes the target's token in %.0f %% of the cases: it was made for "
            "another target, or its table d2t was lost when it was exported.",
            100 * agreement,
        )
    return round(agreement, 3)


def greedy_agreement(model: Eagle3Model, target: HuggingFaceModel, text: Sequence[int]) -> float:
    """How often the head's first choice is the target's, along a text of token ids, at least 3."""
    features = target.open(text).watch()
    width = features.shape[1] // (len(target.feature_layers) + 1)
    choices = np.asarray(target.logits_of(features[:, -width:].contiguous())).argmax(-1)
    states, count = model.text_states(features), len(text) - 1
    guesses = model.read(text[1:], range(count), None, model.new_cache(), range(count), [], states)
    # At place i it has read token i + 1, after which the target's choice is that of place i + 1.
    return float(np.mean(np.asarray(guesses).argmax(-1)[:-1] == choices[1:]))


def target_ids(tensors: dict[str, torch.Tensor], form: HeadFormat) -> torch.Tensor:
    """The target's id of each draft token, [draft vocabulary], from the tables `d2t` and `t2d`,
    which are taken out of `tensors`.

    Raises:
        ValueError: if the tables are missing or contradict each other.
    """
    size, whole = form.draft_vocab, form.layer.vocab_size
    offsets, is_drafted = tensors.pop("d2t", None), tensors.pop("t2d", None)
    if offsets is None and size < whole:
        must = f"have a tensor d2t, as it proposes {size:,} of {whole:,} tokens"
        raise ParameterError("draft", must, hint="Export the head again.")
    ids = torch.arange(size) + (0 if offsets is None else offsets.long())
    wrong = ids.unique().numel() < size or int(ids.min()) < 0 or int(ids.max()) >= whole
    if is_drafted is not None:
        wrong = (
            wrong
            or len(is_drafted) != whole
            or set(ids.tolist()) != {*is_drafted.nonzero().flatten().tolist()}
        )
    if wrong:
        must = "have tensors d2t and t2d that name the same tokens of the target, each once"
        raise ParameterError("draft", must, hint="Export the head again.")
    return ids


def load_head(folder: Path, form: HeadFormat, target: HuggingFaceModel) -> Eagle3Model:
    """The head in a folder, ready to draft for a target that gives it its features.

    Raises:
        ValueError: if tensors are missing, left over or of another size, or it was made for
            another target.
    """
    tensors = read_tensors(folder)
    table = target.model.get_input_embeddings().weight
    if form.layer.vocab_size != target.vocab_size:
        must = f"have the target's vocabulary, {target.vocab_size:,} tokens"
        raise ParameterError("draft", must, form.layer.vocab_size, "Give its own target.")
    ids = target_ids(tensors, form)
    embeddings = tensors.pop("embed_tokens.weight", table)
    width, states = form.layer.hidden_size, len(form.feature_layers(target.layers))
    head = Eagle3Head(form, states * table.shape[1])
    wanted = {name: tuple(tensor.shape) for name, tensor in head.state_dict().items()}
    found = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    if missing := sorted(wanted.keys() - found.keys()):
        raise ParameterError("draft", f"have the tensors {', '.join(missing)}")
    if left_over := sorted(found.keys() - wanted.keys()):
        must = "have only tensors that its configuration asks for"
        raise ParameterError("draft", must, ", ".join(left_over))
    if embeddings.shape[1] != width:
        must = f"have embeddings of its own width, {width}, or the target's"
        raise ParameterError("draft", must, embeddings.shape[1], "Give its own target.")
    for name, shape in wanted.items():
        if found[name] != shape:
            must = f"have the shape {shape} with this target"
            raise ParameterError(f"draft tensor {name}", must, found[name], "Give its own target.")
    head.load_state_dict(tensors)
    return Eagle3Model(head, form, target, ids, embeddings)


def describe_head(head: Eagle3Model) -> dict[str, Any]:
    """What the info of a pair says about its head, but for the name."""
    return {
        "architecture": "EAGLE-3",
        "parameters": sum(weights.numel() for weights in head.head.parameters()),
        "layers": 1,
        "vocab_size": len(head.ids),
    }
