"""A pair of transformers models: `load_pair`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..files import PAIR as EMBEDDED
from ..files import TALES
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from .drafts import draft_model
from .early_exit import first_layers, layers_asked
from .loading import choose_device, choose_dtype, load_model, load_tokenizer, longest_text, place_model
from .selftest import check_tree_reading
from .text import Text, TokenText
from .translated import TranslatedModel, common_share
from .vocabulary import translation

SAMPLE = 400  # characters of a shipped text along which the share of common tokens is measured
Progress = Callable[[float, str], None]


class HuggingFacePair:
    """A target and perhaps a draft, with the text side they share.

    Args:
        target, draft: models whose rows have the target's width; a draft with another vocabulary is a
            `TranslatedModel`; None for a pair without a draft.
        text: the target's tokenizer.
        max_positions: the longest text both can hold, in tokens.
        eos_ids: tokens that end a text.
        info: name and description, plain JSON data.
        beside: the folder that holds the target's, where drafters trained for it lie too; None for one from the hub.
    """

    def __init__(
        self,
        target: HuggingFaceModel,
        draft: HuggingFaceModel | TranslatedModel | None,
        text: Text,
        max_positions: int,
        eos_ids: frozenset[int],
        info: dict[str, Any],
        beside: Path | None = None,
    ) -> None:
        self.target, self.draft, self.text = target, draft, text
        self.vocab_size = target.vocab_size
        self.beside = beside
        self._drafts: dict[tuple, Any] = {}
        self.max_positions, self.eos_ids, self.info = max_positions, eos_ids, info
        self.encode, self.decode, self.piece, self.stream = text.encode, text.decode, text.piece, text.stream

    def __repr__(self) -> str:
        return f"HuggingFacePair({self.info['name']!r})"

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair can draft with besides its draft, loaded at the first use; see `drafts.DRAFTS`."""
        key = (kind, *sorted(parameters.items()))
        if key not in self._drafts:
            self._drafts[key] = draft_model(self, kind, **parameters)
        return self._drafts[key]

    def open(self, tokens: Sequence[int]) -> tuple[HuggingFaceSession, HuggingFaceSession | None]:
        """Fresh sessions of target and draft that start with `tokens`."""
        target = self.target.open(tokens)
        draft: Any = None if self.draft is None else self.draft.open(tokens, target)  # a draft keeps no features
        return target, draft


def _both(target: str | Path | None, draft: str | Path | None) -> tuple[str, str | None]:
    """The folders or names of both models, the embedded ones where none is given."""
    if target is None and draft is None:
        draft = EMBEDDED / "draft"
    return str(EMBEDDED / "target" if target is None else target), None if draft is None else str(draft)


def place_pair(target: str | Path | None = None, draft: str | Path | None = None) -> None:
    """Load the weights of a pair without computing anything, for every later `load_pair` of the same names.

    For processes that have no GPU yet, as on ZeroGPU: what was placed before is on the GPU as soon as one is borrowed.

    Args:
        target, draft: as for `load_pair`; errors too.
    """
    device = choose_device("auto")
    dtype = choose_dtype("auto", device)
    target, draft = _both(target, draft)
    place_model("target", target, device, dtype)
    if draft is not None and not layers_asked(draft):
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
        target: a local folder or a name on the Hugging Face hub; None for the embedded target.
        draft: the same; "early-exit:N" for the target's own first N layers; None for no draft, and for the embedded
            one where the target is embedded too.
        device: "auto", "cpu", "cuda" or "mps".
        dtype: "auto", "float32", "bfloat16" or "float16".
        progress: gets the fraction done and what is being done.
        offload: how to place a target larger than the device (needs accelerate): "auto" fills GPUs, then main memory,
            then the disk; "balanced" fills all GPUs alike; "cpu" and "disk" keep every layer there. The draft is whole.
        offload_folder: where weights go that are offloaded to disk and do not lie there as safetensors already.
        like: a pair with the same target, which is then not loaded again.

    Raises:
        ValueError: if a model is unknown, damaged, cannot read trees, or the two have no token in common.

    >>> pair = specviz.load_pair()
    >>> pair.info["name"], specviz.run(pair, specviz.RunConfig("Once upon", temperature=0, max_new_tokens=2)).text
    ('embedded pair', ' a time')
    """
    tell = progress or (lambda fraction, message: None)
    chosen_device = choose_device(device)
    chosen_dtype = choose_dtype(dtype, chosen_device)
    target, draft = _both(target, draft)
    early = None if draft is None else layers_asked(draft)
    folder = None if offload_folder is None else str(offload_folder)

    tell(0.0, "Reading the tokenizer")
    tokenizer, other = look_at(target, draft)
    tell(0.1, "Loading the target")
    if like is None:
        model = HuggingFaceModel(load_model("target", target, chosen_device, chosen_dtype, offload, folder))
    else:
        model = like.target
    limit = longest_text("target", model.model.config)
    tell(0.6, "Loading the draft" if draft is not None else "No draft to load")
    drafter: HuggingFaceModel | None = None
    if early:
        drafter = first_layers(model, early)
    elif draft is not None:
        width = model.vocab_size if other is None else None
        drafter = HuggingFaceModel(load_model("draft", draft, chosen_device, chosen_dtype), width)
        limit = min(limit, longest_text("draft", drafter.model.config))
    tell(0.8, "Checking the attention over a tree")
    if like is None:
        check_tree_reading("target", model)
    if drafter is not None:
        check_tree_reading("draft", drafter, model if other is None else None)
    for side in filter(None, (model if like is None else None, drafter)):
        side.capture_graphs()
    text = TokenText(tokenizer)
    names = [_short(name) for name in (target, draft) if name is not None]
    info = {
        "name": "embedded pair" if names == ["embedded target", "embedded draft"] else " + ".join(names),
        "target": _describe(model, target),
        "draft": None if drafter is None or draft is None else _describe(drafter, draft),
        "dtype": str(chosen_dtype).removeprefix("torch."),
        "device": str(chosen_device) + (f", offload {offload}" if offload else ""),
        "vocab_size": model.vocab_size,
        "max_positions": limit,
    }
    drafts: HuggingFaceModel | TranslatedModel | None = drafter
    if other is not None and drafter is not None:
        words = translation(tokenizer, other, model.vocab_size, drafter.vocab_size)
        drafts = TranslatedModel(drafter, words, longest_text("draft", drafter.model.config))
        sample = text.encode(TALES.read_text("utf-8")[:SAMPLE])[: min(SAMPLE, limit)]
        info["common"] = {"tokens": len(words.ours), "mass": round(common_share(model, words, sample), 4)}
    tell(1.0, "Ready")
    place = Path(target).expanduser()
    beside = place.resolve().parent if place.is_dir() else None
    return HuggingFacePair(model, drafts, text, limit, end_of_text(model.model, tokenizer), info, beside)


def look_at(target: str, draft: str | None) -> tuple[Any, Any]:
    """The tokenizer of a pair, and the draft's where it has another vocabulary, else None.

    All that can be known without the weights is checked; arguments as in `load_pair`.

    Raises:
        ValueError: if a model is unknown, or the two vocabularies have no token in common.
    """
    tokenizer = load_tokenizer("target", target)
    if draft is None or layers_asked(draft):
        return tokenizer, None
    other = load_tokenizer("draft", draft)
    if same_ids(tokenizer, other):
        return tokenizer, None
    translation(tokenizer, other, len(tokenizer), len(other))  # raises where nothing is common
    return tokenizer, other


def same_ids(target: Any, draft: Any) -> bool:
    """Whether two tokenizers mean the same token by every id both have."""
    ours, theirs = ({i: token for token, i in side.get_vocab().items()} for side in (target, draft))
    return all(ours[token] == theirs[token] for token in ours.keys() & theirs.keys())


def end_of_text(model: Any, tokenizer: Any) -> frozenset[int]:
    """The tokens that end a text, by the generation settings, the configuration and the tokenizer."""
    ids: set[int] = set()
    for source in (getattr(model, "generation_config", None), model.config, tokenizer):
        found = getattr(source, "eos_token_id", None)
        ids.update(found if isinstance(found, list | tuple) else [] if found is None else [found])
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
    if folder.parent == EMBEDDED:
        return f"embedded {folder.name}"
    return folder.resolve().name if folder.is_dir() else name
