"""A pair of transformers models: `load_pair`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ParameterError
from ..files import PAIR, TALES
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from .eagle import load_layer
from .early_exit import count_layers, first_layers, without_layers
from .heads import load_heads
from .learning import LearningModel
from .loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text, place_model
from .selftest import check_tree_reading
from .shapes import NumberText
from .streamed import stream_target
from .text import TokenText
from .translated import TranslatedModel, common_mass
from .vocabulary import translation

SAMPLE = 400  # characters of a shipped text along which the mass of common tokens is measured
Progress = Callable[[float, str], None]


@dataclass(eq=False, repr=False)
class HuggingFacePair:
    """A target and perhaps a draft, with the text side they share, and the folder where trained drafters lie."""

    target: HuggingFaceModel
    draft: HuggingFaceModel | TranslatedModel | None
    text: TokenText | NumberText
    max_positions: int
    eos_ids: frozenset[int]
    info: dict[str, Any]
    folder: Path | None = None

    def __post_init__(self) -> None:
        text = self.text
        self.encode, self.decode, self.piece, self.stream = text.encode, text.decode, text.piece, text.stream
        self.vocab_size, self.disk_speed = self.target.vocab_size, self.target.disk_speed
        self.offload = None if self.disk_speed is None else "disk"
        self._drafters: dict[tuple, Any] = {}

    def __repr__(self) -> str:
        return f"HuggingFacePair({self.info['name']!r})"

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair can draft with besides its draft, loaded at the first use; see `DRAFTERS`."""
        if kind not in DRAFTERS:
            raise ParameterError("drafter", f"be one of {', '.join(DRAFTERS)}", kind)
        key = (kind, *sorted(parameters.items()))
        if key not in self._drafters:
            self._drafters[key] = DRAFTERS[kind](self, **parameters)
        return self._drafters[key]

    def open(self, tokens: Sequence[int]) -> tuple[HuggingFaceSession, HuggingFaceSession | None]:
        """Fresh sessions of target and draft that start with `tokens`."""
        target = self.target.open(tokens)
        draft: Any = None if self.draft is None else self.draft.open(tokens, target)  # a draft keeps no features
        return target, draft


def _early_exit(pair: HuggingFacePair, layers: int) -> Any:
    model = first_layers(pair.target, layers)
    check_tree_reading("draft", model, pair.target)
    return model


def _layer_skip(pair: HuggingFacePair, skip: Sequence[int]) -> Any:
    model = without_layers(pair.target, skip)
    check_tree_reading("draft", model)
    return model


def _online(pair: HuggingFacePair, rate: float) -> Any:
    if type(pair.draft) is not HuggingFaceModel:
        raise ValueError(
            "Learning draft needs a draft with weights of its own and the target's vocabulary; this pair has none. "
            "Load one, or choose another drafter."
        )
    return LearningModel(pair.draft, rate)


def _folder(pair: HuggingFacePair, kind: str) -> Path:
    if pair.folder is None:
        raise ValueError(f"{kind} is looked for beside the target's folder; this target has none. Choose another.")
    return pair.folder / kind


# What can draft for a target besides a draft model: an object whose `open(tokens, target)` makes a session.
DRAFTERS: dict[str, Callable[..., Any]] = {
    "early-exit": _early_exit,
    "layer-skip": _layer_skip,
    "medusa": lambda pair, heads: load_heads(_folder(pair, "medusa"), pair.target, heads),
    "eagle": lambda pair: load_layer(_folder(pair, "eagle"), pair.target),
    "online": _online,
}


def pair_names(target: str | Path | None, draft: str | Path | None) -> tuple[str, str | None]:
    """The folders or names of both models, the embedded ones where none is given."""
    own = target is None and draft is not None and count_layers(str(draft)) is None
    if own and Path(str(draft)).expanduser().resolve() != (PAIR / "draft").resolve():
        must = f"be given with the draft {str(draft)!r}, which was not made for the embedded target"
        raise ParameterError("target", must)
    if target is None:
        target, draft = PAIR / "target", PAIR / "draft" if draft is None else draft
    return str(target), None if draft is None else str(draft)


def place_pair(target: str | Path | None = None, draft: str | Path | None = None) -> None:
    """Load the weights of a pair without computing anything, for every later `load_pair` of the same names.

    For processes that have no GPU yet, as on ZeroGPU: what was placed before is on the GPU as soon as one is borrowed.
    """
    device = choose_device("auto")
    dtype = choose_dtype("auto", device)
    target, draft = pair_names(target, draft)
    place_model("target", target, device, dtype)
    if draft is not None and count_layers(draft) is None:
        place_model("draft", draft, device, dtype)


def load_pair(
    target: str | Path | None = None,
    draft: str | Path | None = None,
    device: str = "auto",
    dtype: str = "auto",
    progress: Progress | None = None,
    offload: str | None = None,
    offload_folder: str | Path | None = None,
    like: HuggingFacePair | None = None,
) -> HuggingFacePair:
    """Load a target and a draft.

    A draft with another vocabulary proposes the tokens that both have (`models.vocabulary`); `info["common"]` then says
    how many they are and how much probability the target gives them along a sample.

    Args:
        target: a local folder, a name on the Hugging Face hub, or "random:llama-2-7b" for random weights in one of
            `models.shapes.SHAPES`; None for the embedded target.
        draft: the same; "early-exit:N" for the target's own first N layers; None for no draft, and for the embedded
            one where the target is embedded too.
        device: "auto", "cpu", "cuda" or "mps".
        dtype: "auto", "float32", "bfloat16" or "float16".
        progress: gets the fraction done and what is being done.
        offload: where the target's layers are. "disk" reads them from there for every pass. With accelerate "auto"
            fills GPUs, then main memory, then the disk, "balanced" fills all GPUs alike, and "cpu" keeps every layer
            in main memory. The draft is whole.
        offload_folder: where weights go that are offloaded to disk and do not lie there as safetensors already.
        like: a pair with the same target, which is then not loaded again.

    Raises:
        ValueError: if a model is unknown, damaged, cannot read trees, or the two have no token in common.

    >>> pair = specviz.load_pair()
    >>> pair.info["name"], specviz.run(pair, specviz.RunConfig("Once upon", temperature=0, max_new_tokens=2)).text
    ('embedded pair', ' a time')
    """
    report = progress or (lambda fraction, message: None)
    place = choose_device(device)
    number_format = choose_dtype(dtype, place)
    target, draft = pair_names(target, draft)
    layers = None if draft is None else count_layers(draft)

    report(0.0, "Reading the tokenizer")
    tokenizer, other = read_tokenizers(target, draft)
    if like is None:
        report(0.1, "Loading the target")
        target_model = stream_target(target, number_format, place, report) if offload == "disk" else None
        if target_model is None:
            folder = None if offload_folder is None else str(offload_folder)
            target_model = HuggingFaceModel(load_model("target", target, place, number_format, offload, folder))
            check_tree_reading("target", target_model)
    else:
        target_model = like.target
    limit = longest_text("target", target_model.model.config)
    report(0.6, "Loading the draft" if draft is not None else "No draft to load")
    draft_model: HuggingFaceModel | None = None
    if layers:
        draft_model = first_layers(target_model, layers)
    elif draft is not None:
        width = target_model.vocab_size if other is None else None
        draft_model = HuggingFaceModel(load_model("draft", draft, place, number_format), width)
        limit = min(limit, longest_text("draft", draft_model.model.config))
    if draft_model is not None:
        report(0.8, "Checking the attention over a tree")
        check_tree_reading("draft", draft_model, target_model if other is None else None)
    for model in filter(None, (target_model if like is None else None, draft_model)):
        model.capture_graphs()
    text = tokenizer if isinstance(tokenizer, NumberText) else TokenText(tokenizer)
    names = [_short(name) for name in (target, draft) if name is not None]
    info = {
        "name": "embedded pair" if names == ["embedded target", "embedded draft"] else " + ".join(names),
        "target": _describe(target_model, target),
        "draft": None if draft_model is None or draft is None else _describe(draft_model, draft),
        "dtype": str(number_format).removeprefix("torch."),
        "device": str(place) + (f", offload {offload}" if offload else ""),
        "vocab_size": target_model.vocab_size,
        "max_positions": limit,
    }
    pair_draft: HuggingFaceModel | TranslatedModel | None = draft_model
    if other is not None and draft_model is not None:
        common = translation(tokenizer, other, target_model.vocab_size, draft_model.vocab_size)
        pair_draft = TranslatedModel(draft_model, common, longest_text("draft", draft_model.model.config))
        sample = text.encode(TALES.read_text("utf-8")[:SAMPLE])[: min(SAMPLE, limit)]
        mass = round(common_mass(target_model, common, sample), 4)
        info["common"] = {"tokens": len(common.target_ids), "mass": mass}
    report(1.0, "Ready")
    parent = Path(target).expanduser().resolve().parent if Path(target).expanduser().is_dir() else None
    return HuggingFacePair(
        target_model, pair_draft, text, limit, end_of_text(target_model.model, tokenizer), info, parent
    )


def read_tokenizers(target: str, draft: str | None) -> tuple[Any, Any]:
    """The tokenizer of a pair, and the draft's where it has another vocabulary, else None; no weights are read."""
    tokenizer = load_tokenizer("target", target)
    if draft is None or count_layers(draft):
        return tokenizer, None
    other = load_tokenizer("draft", draft)
    if isinstance(tokenizer, NumberText) or isinstance(other, NumberText):
        if getattr(other, "vocab_size", None) != tokenizer.vocab_size:
            must = f"have the vocabulary of {target!r}, {tokenizer.vocab_size} tokens"
            raise ParameterError(
                "draft", must, other.vocab_size, "Random weights know no text that could be translated."
            )
        return tokenizer, None
    ours, theirs = ({i: token for token, i in side.get_vocab().items()} for side in (tokenizer, other))
    if all(ours[i] == theirs[i] for i in ours.keys() & theirs.keys()):
        return tokenizer, None
    translation(tokenizer, other, len(tokenizer), len(other))  # raises where nothing is common
    return tokenizer, other


def end_of_text(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text, by the generation settings, the configuration and the tokenizer."""
    ids: set[int] = set()
    for source in (getattr(model, "generation_config", None), model.config, tokenizer):
        value = getattr(source, "eos_token_id", None)
        ids.update(value if isinstance(value, list | tuple) else [] if value is None else [value])
    return frozenset(ids)


def _describe(model: HuggingFaceModel, name: str) -> dict[str, Any]:
    return {
        "name": _short(name),
        "architecture": type(model.model).__name__,
        "parameters": sum(weights.numel() for weights in model.model.parameters()),
        "layers": model.layers,
        "vocab_size": model.embeddings,
    }


def _short(name: str) -> str:
    """A hub name unchanged, a folder by its last part, without its location on this machine."""
    folder = Path(name).expanduser()
    if folder.parent == PAIR:
        return f"embedded {folder.name}"
    return folder.resolve().name if folder.is_dir() else name
