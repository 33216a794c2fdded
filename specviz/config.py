"""The configuration of a run: names, parameters and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, is_dataclass, replace
from functools import cached_property
from importlib import import_module
from operator import index
from typing import Annotated, Any, ClassVar

from .codec import Most, NonNegative, Positive, Share, Whole, plain
from .distributions import Sampling
from .errors import ParameterError, shown

LARGEST = 2**53  # beyond it, JSON readers of other languages lose digits


@dataclass(frozen=True)
class Choice:
    """A builder, rule or drafter by menu name and parameters, as stored in JSON; `registry.build` creates it.

    Args:
        name: the menu name.
        parameters: of the strategy, by name; those left out have their defaults.

    >>> specviz.RunConfig(drafter=specviz.Choice("ngram", {"order": 3})).drafter.name
    'ngram'
    """

    name: str
    parameters: dict[str, Any] = field(default_factory=dict)
    LATER: ClassVar = ()

    @classmethod
    def of(cls, value: Any) -> Choice:
        """The choice that stands for a strategy.

        Args:
            value: a Choice or a frozen dataclass with a menu name.

        Raises:
            ValueError: if it is anything else.

        >>> specviz.Choice.of(specviz.BUILDERS["k-ary"](width=2, depth=3))
        Choice(name='k-ary', parameters={'width': 2, 'depth': 3})
        """
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
        prompt: text, or a list of token ids, not empty.
        builder, verifier: from `specviz.BUILDERS` and `specviz.VERIFIERS`, a `Choice` that names them, or a text like
            "sequoia" or "sequoia:size=16,depth=6".
        drafter: from `specviz.DRAFTERS`, a `Choice` or a text; None is the pair's own draft model.
        temperature, top_p, top_k: how the target's distributions are processed, see `Sampling`; top_p and top_k
            apply to the draft as well.
        draft_temperature: None means the target's temperature, and 0.6 where that is 0.
        max_new_tokens: how many tokens to write at most, at least 1.
        seed: a whole number from 0.

    Raises:
        ValueError: if a value is out of its range; the message says what to do.

    >>> config = specviz.RunConfig("Once", builder="sequoia:size=16", verifier="sequoia", temperature=0.8)
    >>> config.builder.size, config.target_sampling.temperature
    (16, 0.8)
    """

    LATER: ClassVar = ("drafter",)  # older traces have none
    prompt: str | Annotated[Sequence[Whole], Most(10**6)] = "Once upon a time"
    builder: Annotated[Any, Choice] = Choice("sequoia")
    verifier: Annotated[Any, Choice] = Choice("sequoia")
    temperature: NonNegative = 0.8
    top_p: Share = 1.0
    top_k: Positive | None = None
    draft_temperature: NonNegative | None = None
    max_new_tokens: Positive = 128
    seed: Whole = 0
    drafter: Annotated[Any, Choice] = None

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
        """How the target's logits become rows."""
        return Sampling(self.temperature, self.top_p, self.top_k)

    @property
    def draft_sampling(self) -> Sampling:
        """How the draft's logits become rows."""
        temperature = self.draft_temperature
        if temperature is None:
            temperature = self.temperature if self.temperature > 0 else 0.6
        try:
            return Sampling(temperature, self.top_p, self.top_k)
        except ParameterError as error:
            raise (error.named("draft_temperature") if error.name == "temperature" else error) from None

    @cached_property
    def resolved(self) -> Any:
        """Builder, rule and drafter as objects, and whether they go together: `compatibility.Resolved`, found once."""
        return import_module("specviz.compatibility").resolve(self)

    def plainly(self) -> RunConfig:
        """The same run with plain decoding."""
        return replace(self, builder=Choice("plain"), verifier=Choice("plain"))

    def to_dict(self) -> dict[str, Any]:
        """The configuration as plain JSON data, its strategies by name and parameters."""
        choices: dict[str, Any] = {kind: Choice.of(getattr(self, kind)) for kind in ("builder", "verifier", "drafter")}
        return plain(replace(self, **choices), exact=True)


def _token_ids(prompt: Any) -> tuple[int, ...]:
    try:
        return tuple(map(index, prompt))
    except TypeError:
        raise ParameterError("prompt", "be text or a list of token ids", prompt) from None
