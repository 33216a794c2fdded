"""What a target and a draft of transformers open: sessions, and drafters besides the draft."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from ..base.codec import JsonObject
from ..base.errors import ParameterError
from ..passes.huggingface import HuggingFaceModel, HuggingFaceSession
from .early_exit import first_layers, in_low_precision, without_layers
from .heads.block import load_block
from .heads.eagle import load_layer
from .heads.eagle3 import Eagle3Model
from .heads.medusa import load_heads
from .learning import LearningSession
from .selftest import check_tree_reading
from .table import NumberText
from .text import TokenText, sample_of


@dataclass(eq=False, repr=False)
class HuggingFacePair:
    """A target and perhaps a draft, with the text side they share, and the folder where trained
    drafters lie."""

    target: HuggingFaceModel
    draft: Any
    text: TokenText | NumberText
    max_positions: int
    eos_ids: frozenset[int]
    info: JsonObject
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
        if self.target.disk_speed is not None:
            self.info |= {"offload": "disk", "disk_speed": self.target.disk_speed}
        self.offload = self.info.get("offload")
        self.disk_speed = self.info.get("disk_speed")
        self._drafters: JsonObject = {}  # no wrapper of a method: it would keep the pair alive

    def __repr__(self) -> str:
        return f"HuggingFacePair({self.info['name']!r})"

    def drafter(self, kind: str, **parameters: Any) -> Any:
        """What the pair can draft with besides its draft, each made once; see `Pair.drafter`."""
        # Shallow models and heads hold memory, so each is made once and shared by all runs.
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
