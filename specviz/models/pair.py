"""A pair of transformers models: `load_pair`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..config.prompt import no_template
from ..passes.huggingface import HuggingFaceModel
from .catalogue import CATALOGUE, default_drafter, is_prepared_here
from .early_exit import count_layers, first_layers
from .heads.eagle3 import Eagle3Model
from .heads.loading import checked_agreement, find_head, load_head, with_features
from .hub import Report, model_folder, prepared_folder
from .huggingface_pair import HuggingFacePair
from .loading import (
    Tokenizer,
    attention_windows,
    choose_device,
    choose_dtype,
    load_model,
    load_tokenizer,
    longest_text,
    weights_hash,
)
from .names import pair_name, pair_names, short_name
from .selftest import check_tree_reading
from .streamed.target import stream_target
from .table import NumberText
from .text import TokenText, end_of_text, questions_of, sample_of
from .vocabulary import TranslatedSession, translation


def load_pair(
    target: str | Path | None = None,
    draft: str | Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    progress: Report | None = None,
    offload: str | None = None,
    offload_folder: str | Path | None = None,
    like: HuggingFacePair | None = None,
    chat: bool | None = False,
) -> HuggingFacePair:
    """Load a target and a draft.

    A draft with another vocabulary proposes the tokens that both have (`models.vocabulary`);
    `info["common"]` then says how many they are and how much probability the target gives them
    along a sample.

    Args:
        target: a local folder, a .gguf file, "smollm2" (or another name of `models.catalogue`), a
            name on the Hugging Face hub, or "random:llama-2-7b" for random weights in one of the
            shapes of `assets/models.toml`; None for the embedded target. What has to be downloaded
            or converted is so once.
        draft: the same; "early-exit:N" for the target's own first N layers; None for the draft of
            an embedded or catalogued target, and no draft for any other.
        device: "auto", "cpu", "cuda" or "mps".
        dtype: "auto", "float32", "bfloat16" or "float16".
        progress: gets the fraction done and what is being done.
        offload: where the target's layers are. "disk" reads them from there for every pass. With
            accelerate "auto" fills GPUs, then main memory, then the disk, "balanced" fills all GPUs
            alike, and "cpu" keeps every layer in main memory. The draft is whole.
        offload_folder: where weights go that are offloaded to disk and do not lie there as
            safetensors already.
        like: a pair with the same target, which is then not loaded again.
        chat: whether a text as a prompt is asked as the message of a user; None for yes where the
            target has a chat template. A prompt of messages is always a chat.

    Raises:
        ValueError: if a model is unknown, damaged, cannot read trees, or the two have no token in
            common.

    >>> pair = specviz.load_pair()
    >>> config = specviz.RunConfig("Once upon", temperature=0, max_new_tokens=2)
    >>> pair.info["name"], specviz.run(pair, config).text
    ('embedded pair', ' a time')
    """
    report = progress or (lambda fraction, message: None)
    place = choose_device(device)
    number_format = choose_dtype(dtype, place)
    names_draft = draft is not None
    # Names first: nothing is downloaded for a pair that cannot be one.
    target, draft = pair_names(target, draft)
    head_format = find_head(draft)
    for role, name in (("target", target), ("draft", draft)):
        if name is not None and is_prepared_here(name):
            prepared_folder(role, name, report)
    report(0.0, "Reading the tokenizer")
    # Tokenizers before weights: a pair without common tokens fails in a second and not after
    # minutes.
    tokenizer, draft_tokenizer = read_tokenizers(target, draft)
    text = tokenizer
    if not isinstance(tokenizer, NumberText):
        text = TokenText(tokenizer)
    if chat and not text.is_chat:
        raise no_template()

    report(0.1, "Loading the target")
    # Drafts that are compared share the weights of their target.
    target_model = like.target if like else None
    if target_model is None and offload == "disk":
        target_model = stream_target(target, number_format, place, report)
    if target_model is None:
        weights = load_model("target", target, place, number_format, offload, offload_folder)
        target_model = HuggingFaceModel(weights)
        target_model.weights_hash = "" if offload else weights_hash("target", target)
        check_tree_reading("target", target_model, text=sample_of(text))
        target_model.capture_graphs()
    config = target_model.model.config
    # The shortest of what target and draft can hold is what the pair can.
    longest = longest_text("target", config)
    info = {
        "name": pair_name(target, draft),
        "target": _describe(
            target, target_model.model, target_model.layers, target_model.embeddings
        ),
        "draft": None,
        "dtype": str(number_format).removeprefix("torch."),
        "device": str(place) + (f", offload {offload}" if offload else ""),
        "vocab_size": target_model.vocab_size,
    }
    if windows := attention_windows("target", config):
        info["window"] = min(windows)

    opener: Any = None
    head: Eagle3Model | None = None
    if draft is not None:
        report(0.6, "Loading the draft")
    if draft is not None and head_format is not None:
        target_model = with_features(target_model, head_format)
        head = load_head(model_folder("draft", draft), head_format, target_model)
        longest = min(longest, head.positions)
        facts = _describe(draft, head.head, 1, len(head.ids), "EAGLE-3")
        if questions := questions_of(text):
            facts["agreement"] = checked_agreement(head, target_model, questions, longest)
        info["draft"] = facts
    elif draft is not None:
        is_shared = draft_tokenizer is None
        own_text = text if is_shared else TokenText(draft_tokenizer)
        model = _load_draft(draft, target_model, own_text, is_shared, place, number_format, report)
        opener = model
        draft_longest = longest_text("draft", model.model.config)
        longest = min(longest, draft_longest)
        info["draft"] = _describe(draft, model.model, model.layers, model.embeddings)
        if not is_shared:
            widths = target_model.vocab_size, model.vocab_size
            common = translation(tokenizer, draft_tokenizer, *widths)
            mass = common.common_mass(target_model, sample_of(text)[:longest])
            info["common"] = {"tokens": len(common.target_ids), "mass": round(mass, 4)}
            opener = SimpleNamespace(open=partial(TranslatedSession, model, common, draft_longest))
    drafter = "model" if head is None else "eagle"
    if not names_draft and draft is not None:
        drafter = default_drafter(str(target), target_model.compiled is not None)
    report(1.0, "Ready")
    info["max_positions"] = longest
    folder = Path(target).expanduser()
    drafters_folder = None
    if folder.is_dir():
        drafters_folder = folder.resolve().parent
    if target in CATALOGUE:  # its drafters come with the package
        drafters_folder = CATALOGUE[target].head
    return HuggingFacePair(
        target_model,
        opener,
        text,
        longest,
        end_of_text(target_model.model, tokenizer),
        info,
        folder=drafters_folder,
        default_drafter=drafter,
        chat=text.is_chat if chat is None else chat,
        head=head,
    )


def _load_draft(
    draft: str,
    target: HuggingFaceModel,
    text: TokenText | NumberText,
    is_shared: bool,
    device: torch.device,
    dtype: torch.dtype,
    report: Report,
) -> HuggingFaceModel:
    """A draft model, which was tried on trees.

    Args:
        draft: its name.
        target: the model that it drafts for.
        text: the text side of its own vocabulary.
        is_shared: whether that is the target's.
        device, dtype, report: as for `load_pair`.
    """
    if layers := count_layers(draft):
        model: HuggingFaceModel = first_layers(target, layers)
    else:
        weights = load_model("draft", draft, device, dtype)
        # With one vocabulary the draft's rows are as wide as the target's.
        model = HuggingFaceModel(weights, target.vocab_size if is_shared else None)
        model.weights_hash = weights_hash("draft", draft)
    report(0.8, "Checking the attention over a tree")
    check_tree_reading("draft", model, target if is_shared else None, sample_of(text))
    model.capture_graphs()
    return model


def read_tokenizers(target: str, draft: str | None) -> tuple[Tokenizer, Tokenizer]:
    """The tokenizer of a pair, and the draft's where it has another vocabulary, else None; no
    weights are read."""
    tokenizer = load_tokenizer("target", target)
    if draft is None or count_layers(draft) or find_head(draft):
        return tokenizer, None
    draft_tokenizer = load_tokenizer("draft", draft)
    if isinstance(tokenizer, NumberText) or isinstance(draft_tokenizer, NumberText):
        if getattr(draft_tokenizer, "vocab_size", None) != tokenizer.vocab_size:
            must = f"have the vocabulary of {target!r}, {tokenizer.vocab_size} tokens"
            hint = "Random weights know no text that could be translated."
            raise ParameterError("draft", must, draft_tokenizer.vocab_size, hint)
        return tokenizer, None
    # Equal where both have a number: one of the two may be padded.
    tokens = {number: token for token, number in tokenizer.get_vocab().items()}
    draft_tokens = {number: token for token, number in draft_tokenizer.get_vocab().items()}
    if all(tokens[i] == draft_tokens[i] for i in tokens.keys() & draft_tokens.keys()):
        return tokenizer, None
    # Raises where nothing is common.
    translation(tokenizer, draft_tokenizer, len(tokenizer), len(draft_tokenizer))
    return tokenizer, draft_tokenizer


def _describe(
    name: str, module: torch.nn.Module, layers: int, vocab_size: int, architecture: str = ""
) -> JsonObject:
    """What the info of a pair says about a model."""
    return {
        "name": short_name(name),
        "architecture": architecture or type(module).__name__,
        "parameters": sum(weights.numel() for weights in module.parameters()),
        "layers": layers,
        "vocab_size": vocab_size,
    }
