"""The configuration of a run: names, parameters and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from importlib import import_module
from operator import index
from typing import Any

from .distributions import Sampling
from .errors import ParameterError, shown

LARGEST = 2**53  # beyond it, JSON readers of other languages lose digits


@dataclass(frozen=True)
class Choice:
    """A builder, rule or drafter by menu name and parameters, as stored in JSON; `registry.build` creates it."""

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> Choice:
        """The choice that stands for `value`, a Choice or a frozen dataclass with a menu name."""
        if isinstance(value, Choice):
            return value
        name = getattr(value, "name", None)
        if not is_dataclass(value) or isinstance(value, type) or not isinstance(name, str):
            raise ValueError(
                "builder, verifier and drafter must be made from specviz.BUILDERS, specviz.VERIFIERS and "
                f"specviz.DRAFTERS; got {shown(value)}."
            )
        return cls(name, asdict(value))


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines a run besides the pair.

    Args:
        prompt: text, or a list of token ids.
        builder, verifier: from `specviz.BUILDERS` and `specviz.VERIFIERS`, a `Choice` that names them, or a text like
            "sequoia" or "sequoia:size=16,depth=6".
        drafter: from `specviz.DRAFTERS`, a `Choice` or a text; None is the pair's own draft model.
        temperature, top_p, top_k: how the target's distributions are processed; top_p and top_k apply to the draft as
            well.
        draft_temperature: None means the target's temperature, and 0.6 where that is 0.
        max_new_tokens: how many tokens to write at most.
        seed: a whole number from 0.

    Raises:
        ValueError: if a value is out of its range; the message says what to do.
    """

    prompt: str | Sequence[int] = "Once upon a time"
    builder: Any = Choice("sequoia")
    verifier: Any = Choice("sequoia")
    temperature: float = 0.8
    top_p: float = 1.0
    top_k: int | None = None
    draft_temperature: float | None = None
    max_new_tokens: int = 128
    seed: int = 0
    drafter: Any = None

    def __post_init__(self) -> None:
        for kind in ("builder", "verifier", "drafter"):
            given = getattr(self, kind)
            if isinstance(given, str):
                # The registries stand above the configuration, so they are looked up when they are needed.
                given = import_module("specviz.registry").parse_strategy(kind, given)
                object.__setattr__(self, kind, given)
        if not isinstance(self.prompt, str):
            object.__setattr__(self, "prompt", _token_ids(self.prompt))
        if self.drafter is None:
            object.__setattr__(self, "drafter", Choice("model"))
        if not self.prompt:
            raise ParameterError("prompt", "not be empty", hint="Give a few words for the models to continue.")
        for name, low in (("max_new_tokens", 1), ("seed", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= LARGEST:
                raise ParameterError(name, f"be a whole number from {low} to {LARGEST}", value)
        _ = self.target_sampling, self.draft_sampling  # raises on a bad temperature, top_p or top_k

    @property
    def target_sampling(self) -> Sampling:
        return Sampling(self.temperature, self.top_p, self.top_k)

    @property
    def draft_sampling(self) -> Sampling:
        temperature = self.draft_temperature
        if temperature is None:
            temperature = self.temperature if self.temperature > 0 else 0.6
        try:
            return Sampling(temperature, self.top_p, self.top_k)
        except ParameterError as error:
            raise (error.named("draft_temperature") if error.name == "temperature" else error) from None

    def plainly(self) -> RunConfig:
        """The same run with plain decoding."""
        return replace(self, builder=Choice("plain"), verifier=Choice("plain"))

    def to_dict(self) -> dict[str, Any]:
        data = {f.name: getattr(self, f.name) for f in fields(self)}
        for kind in ("builder", "verifier", "drafter"):
            data[kind] = asdict(Choice.of(data[kind]))
        if not isinstance(self.prompt, str):
            data["prompt"] = list(self.prompt)
        return data


def _token_ids(prompt: Any) -> tuple[int, ...]:
    try:
        return tuple(map(index, prompt))
    except TypeError:
        raise ParameterError("prompt", "be text or a list of token ids", prompt) from None
