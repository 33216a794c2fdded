"""From a folder with an EAGLE-3 head to a model that drafts for a target, checked on the way."""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ...base.errors import ParameterError
from ...passes.cache import Pass
from ...passes.huggingface import HuggingFaceModel
from ...tree import TokenIds, TokenTree
from ..catalogue import CATALOGUE
from ..early_exit import count_layers
from ..formats.tensors import check_tensors
from ..hub import RANDOM, model_folder
from ..stored import Arrays, computed_once
from .eagle3 import Eagle3Model
from .eagle3_head import Eagle3Head
from .format import HeadFormat, read_format, read_tensors

LEAST_AGREEMENT = 0.1  # with the target's first choices; by chance it is far less
ANSWER = 24  # tokens of each answer that a head is tried on; a large target writes fewer
FEWEST = 4
EFFORT = 4e9  # parameters of the target times tokens of an answer


def find_head(draft: str | None) -> HeadFormat | None:
    """The format of the head that a draft is, None for any other draft; no weights are read.

    Raises:
        ValueError: as for `read_format`, or if there is no such folder or name.
    """
    if not draft or count_layers(draft) or draft.startswith(RANDOM):
        return None
    return read_format(model_folder("draft", draft, weights=False))


def target_of_head(draft: str | Path | None) -> str | None:
    """The name of the target that a head in a folder was made for, where it or the catalogue says
    so."""
    folder = Path(draft or "").expanduser()
    # `os.path.isdir` is false for a name that no folder can have, where `Path.is_dir` raises.
    if not draft or not os.path.isdir(folder):
        return None
    folder = folder.resolve()
    form = find_head(str(draft))
    if form is None:
        return None
    own = (name for name, entry in CATALOGUE.items() if entry.head.resolve() == folder)
    return form.target or next(own, None)


def with_features(target: HuggingFaceModel, form: HeadFormat) -> HuggingFaceModel:
    """The same target, which gives its sessions the features that a head reads."""
    return target.with_features(sorted(set(form.feature_layers(target.layers))))


def checked_agreement(
    head: Eagle3Model, target: HuggingFaceModel, prompts: Sequence[Sequence[int]], longest: int
) -> float:
    """The mean `greedy_agreement` along the target's own answers; next to nothing is logged.

    That is how a head looks whose table `d2t` was lost, or that reads other layers than those it
    was trained on.

    Args:
        head, target: what is tried; the target gives its features to the head.
        prompts: token ids that the target goes on from, at least 1 each.
        longest: the longest text that both can hold, in tokens.
    """
    half = longest // 2
    # Fewer tokens for a large target: the check must not take as long as a run.
    size = sum(weights.numel() for weights in target.model.parameters())
    count = min(ANSWER, half, max(FEWEST, int(EFFORT / size)))
    shares = []
    for prompt in prompts:
        answer = greedy_answer(target, prompt[:half], count)
        shares.append(greedy_agreement(head, target, prompt[:half], answer))
    agreement = float(np.mean(shares))
    if agreement < LEAST_AGREEMENT:
        logging.getLogger(__name__).warning(
            "The draft head proposes the target's token in %.0f %% of the cases: it was made for "
            "another target, or its table d2t was lost when it was exported.",
            100 * agreement,
        )
    return round(agreement, 3)


def greedy_answer(target: HuggingFaceModel, prompt: TokenIds, count: int) -> list[int]:
    """The `count` tokens that a target writes after a prompt at temperature 0, whether or not one
    of them ends the text."""

    def write() -> Arrays:
        session = target.open(prompt)
        for _ in range(count):
            root = TokenTree(session.context[-1], start=len(session.context) - 1)
            session.commit(root, (), [int(np.asarray(session.forward(root, [0])).argmax())])
        return {"tokens": np.array(session.context[len(prompt) :])}

    # A pass of weights on disk takes long; what was written in memory is the same text.
    stored = computed_once(target, ("answer", list(prompt), count), write)
    return stored["tokens"].tolist()


def greedy_agreement(
    model: Eagle3Model, target: HuggingFaceModel, prompt: TokenIds, answer: TokenIds
) -> float:
    """How often a head's first choice is the next token of the target's greedy answer; the first
    two tokens of a text are not guessed."""
    text = [*prompt, *answer]
    states = model.text_states(target.open(text).watch())
    # At place i it reads the state at token i beside token i + 1, and guesses token i + 2.
    places = range(len(states))
    logits, _ = model.read(Pass(text[1:], places, None, model.new_cache(), places, states))
    guesses = np.asarray(logits).argmax(-1)[:-1]
    is_right = guesses == text[2:]
    return float(np.mean(is_right[-len(answer) :]))


def target_ids(tensors: dict[str, Tensor], form: HeadFormat) -> Tensor:
    """The target's id of each draft token, [draft vocabulary], from the tables `d2t` and `t2d`,
    which are taken out of `tensors`.

    Raises:
        ValueError: if the tables are missing or contradict each other.
    """
    size = form.draft_vocab
    whole = form.layer.vocab_size
    offsets = tensors.pop("d2t", None)
    is_drafted = tensors.pop("t2d", None)
    if offsets is None and size < whole:
        must = f"have a tensor d2t, as it proposes {size:,} of {whole:,} tokens"
        raise ParameterError("draft", must, hint="Export the head again.")
    # d2t holds differences: the id of draft token i is i + d2t[i].
    ids = torch.arange(size) + (0 if offsets is None else offsets.long())
    is_right = ids.unique().numel() == size and int(ids.min()) >= 0 and int(ids.max()) < whole
    if is_right and is_drafted is not None:
        expected = torch.zeros(whole, dtype=torch.bool).index_fill(0, ids, True)
        is_right = torch.equal(is_drafted.bool(), expected)
    if not is_right:
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
    # A head without embeddings reads those of its target.
    embeddings = tensors.pop("embed_tokens.weight", table)
    width = form.layer.hidden_size
    states = len(form.feature_layers(target.layers))
    head = Eagle3Head(form, states * table.shape[1])
    if embeddings.shape[1] != width:
        must = f"have embeddings of its own width, {width}, or the target's"
        raise ParameterError("draft", must, embeddings.shape[1], "Give its own target.")
    hint = "Give its own target, or choose another draft."
    check_tensors("draft does not fit this target", head.state_dict(), tensors, hint)
    head.load_state_dict(tensors)
    return Eagle3Model(head, form, target, ids, embeddings)
