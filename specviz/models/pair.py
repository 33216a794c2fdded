"""A pair of transformers models: `load_pair`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..base.errors import ParameterError
from ..config.prompt import no_template
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from .catalogue import default_drafter, is_prepared_here
from .early_exit import count_layers, first_layers, in_low_precision, without_layers
from .heads.block import load_block
from .heads.eagle import load_layer
from .heads.eagle3 import Eagle3Model
from .heads.loading import checked_agreement, describe_head, find_head, load_head, with_features
from .heads.medusa import load_heads
from .hub import model_folder, prepared_folder
from .learning import LearningSession
from .loading import (
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

Progress = Callable[[float, str], None]


@dataclass(eq=False, repr=False)
class HuggingFacePair:
    """A target and perhaps a draft, with the text side they share, and the folder where trained
    drafters lie."""

    target: HuggingFaceModel
    draft: Any  # what opens sessions of the draft, or None
    text: TokenText | NumberText
    max_positions: int
    eos_ids: frozenset[int]
    info: dict[str, Any]
    folder: Path | None = None
    default_drafter: str = "model"
    chat: bool = False
    head: Eagle3Model | None = None  # an EAGLE-3 head that was given as the draft

    def __post_init__(self) -> None:
        self.encode = self.text.encode
        self.decode = self.text.decode
        self.token_text = self.text.token_text
        self.stream = self.text.stream
        self.is_chat = self.text.is_chat
        self.vocab_size = self.target.vocab_size
        self.disk_speed = self.target.disk_speed
        self.offload = None if self.disk_speed is None else "disk"
        self._drafters: dict[str, Any] = {}  # no wrapper of a method: it would keep the pair alive

    def __repr__(self) -> str:
        return f"HuggingFacePair({self.info['name']!r})"

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair can draft with besides its draft, each made once; see `Pair.drafter`."""
        key = f"{kind} {parameters}"
        if key not in self._drafters:
            self._drafters[key] = self._make_drafter(kind, **parameters)
        return self._drafters[key]

    def _make_drafter(self, kind: str, **parameters: Any) -> Any:
        if kind in ("early-exit", "layer-skip"):
            shorten = first_layers if kind == "early-exit" else without_layers
            model = shorten(self.target, **parameters)
            check_tree_reading("draft", model, self.target, sample_of(self.text))
            return model
        if kind == "quantized":
            return in_low_precision(self.target, **parameters)
        if kind == "eagle" and self.head is not None:
            return self.head
        loaders: dict[str, Callable[..., Any]] = {
            "medusa": load_heads,
            "eagle": load_layer,
            "block": load_block,
        }
        if kind in loaders:
            if self.folder is None:
                raise ParameterError(
                    kind,
                    "lie beside the target's folder; this target has none",
                    hint="Choose another.",
                )
            return loaders[kind](self.folder / kind, self.target, **parameters)
        if kind != "online":
            raise ParameterError(
                "drafter",
                "be early-exit, layer-skip, quantized, medusa, eagle, block or online",
                kind,
            )
        if type(self.draft) is not HuggingFaceModel:
            raise ValueError(
                "Learning draft needs a draft with weights of its own and the target's "
                "vocabulary; this pair has none. "
                "Load one, or choose another drafter."
            )
        draft = self.draft  # not the pair, which would refer to itself
        return SimpleNamespace(
            open=lambda tokens, target=None: LearningSession(draft, tokens, **parameters)
        )

    def open(self, tokens: Sequence[int]) -> tuple[HuggingFaceSession, HuggingFaceSession | None]:
        """Fresh sessions of target and draft that start with `tokens`."""
        target = self.target.open(tokens)
        return target, self.draft and self.draft.open(tokens, target)


def load_pair(
    target: str | Path | None = None,
    draft: str | Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress | None = None,
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
            name on the Hugging Face hub, or "random:llama-2-7b" for random weights in one of
            `models.loading.SHAPES`; None for the embedded target. What has to be downloaded or
            converted is so once.
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
    target, draft = pair_names(target, draft)
    head_format = find_head(draft)
    for role, name in (("target", target), ("draft", draft)):
        if name is not None and is_prepared_here(name):
            prepared_folder(role, name, report)
    report(0.0, "Reading the tokenizer")
    tokenizer, draft_tokenizer = read_tokenizers(target, draft)
    text = tokenizer if isinstance(tokenizer, NumberText) else TokenText(tokenizer)
    if chat and not text.is_chat:
        raise no_template()

    report(0.1, "Loading the target")
    target_model = like.target if like else None
    if target_model is None and offload == "disk":
        target_model = stream_target(target, number_format, place, report)
    if target_model is None:
        weights = load_model("target", target, place, number_format, offload, offload_folder)
        target_model = HuggingFaceModel(weights)
        target_model.weights_hash = "" if offload else weights_hash("target", target)
        check_tree_reading("target", target_model, text=sample_of(text))
        target_model.capture_graphs()
    limits = [longest_text("target", target_model.model.config)]
    info = {
        "name": pair_name(target, draft),
        "target": _describe(target_model, target),
        "draft": None,
        "dtype": str(number_format).removeprefix("torch."),
        "device": str(place) + (f", offload {offload}" if offload else ""),
        "vocab_size": target_model.vocab_size,
    }
    if windows := attention_windows("target", target_model.model.config):
        info["window"] = min(windows)

    draft_model: Any = None
    head: Eagle3Model | None = None
    if draft is not None:
        report(0.6, "Loading the draft")
    if draft is not None and head_format is not None:
        target_model = with_features(target_model, head_format)
        head = load_head(model_folder("draft", draft), head_format, target_model)
        limits.append(head.positions)
        facts = {"name": short_name(draft)} | describe_head(head)
        if questions := questions_of(text):
            facts["agreement"] = checked_agreement(head, target_model, questions, min(limits))
        info["draft"] = facts
    elif draft is not None:
        if layers := count_layers(draft):
            draft_model = first_layers(target_model, layers)
        else:
            weights = load_model("draft", draft, place, number_format)
            # With one vocabulary the draft's rows are as wide as the target's.
            width = target_model.vocab_size if draft_tokenizer is None else None
            draft_model = HuggingFaceModel(weights, width)
            draft_model.weights_hash = weights_hash("draft", draft)
        report(0.8, "Checking the attention over a tree")
        has_target_vocabulary = draft_tokenizer is None
        sample = sample_of(text if has_target_vocabulary else TokenText(draft_tokenizer))
        shared = target_model if has_target_vocabulary else None
        check_tree_reading("draft", draft_model, shared, sample)
        draft_model.capture_graphs()
        limits.append(longest_text("draft", draft_model.model.config))
        info["draft"] = _describe(draft_model, draft)
        if draft_tokenizer is not None:
            common = translation(
                tokenizer, draft_tokenizer, target_model.vocab_size, draft_model.vocab_size
            )
            sample = sample_of(text)[: min(limits)]
            mass = round(common.common_mass(target_model, sample), 4)
            info["common"] = {"tokens": len(common.target_ids), "mass": mass}
            translated = partial(TranslatedSession, draft_model, common, limits[-1])
            draft_model = SimpleNamespace(open=translated)
    drafter = "model" if head is None else "eagle"
    if not names_draft and offload == "disk" and target_model.compiled is not None:
        drafter = default_drafter(target, on_disk=True)
    report(1.0, "Ready")
    info["max_positions"] = min(limits)
    folder = Path(target).expanduser()
    return HuggingFacePair(
        target_model,
        draft_model,
        text,
        min(limits),
        end_of_text(target_model.model, tokenizer),
        info,
        folder=folder.resolve().parent if folder.is_dir() else None,
        default_drafter=drafter,
        chat=text.is_chat if chat is None else chat,
        head=head,
    )


def read_tokenizers(target: str, draft: str | None) -> tuple[Any, Any]:
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
    tokens = {number: token for token, number in tokenizer.get_vocab().items()}
    draft_tokens = {number: token for token, number in draft_tokenizer.get_vocab().items()}
    if all(tokens[i] == draft_tokens[i] for i in tokens.keys() & draft_tokens.keys()):
        return tokenizer, None
    # Raises where nothing is common.
    translation(tokenizer, draft_tokenizer, len(tokenizer), len(draft_tokenizer))
    return tokenizer, draft_tokenizer


def _describe(model: HuggingFaceModel, name: str) -> dict[str, Any]:
    return {
        "name": short_name(name),
        "architecture": type(model.model).__name__,
        "parameters": sum(weights.numel() for weights in model.model.parameters()),
        "layers": model.layers,
        "vocab_size": model.embeddings,
    }
