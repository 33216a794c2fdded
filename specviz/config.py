"""The configuration of a run: strategies and numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator
from pydantic.dataclasses import dataclass

from . import builders, drafters, verifiers  # noqa: F401  each fills its menu
from .codec import Positive, Whole, sentences
from .distributions import Sampling, Temperature, TopK, TopP
from .errors import ParameterError
from .strategy import strategy_of


@sentences
@dataclass(frozen=True, config=ConfigDict(strict=True))
class RunConfig:
    """Everything that determines a run besides the pair.

    Args:
        prompt: text, or a list of token ids, not empty.
        builder, verifier, drafter: an object from a menu such as `specviz.BUILDERS`, or a text like "sequoia:size=16".
        temperature, top_p, top_k: of the target's distributions, see `Sampling`; top_p and top_k apply to the draft
            too.
        draft_temperature: None means the target's temperature, and 0.6 where that is 0.
        max_new_tokens, seed: whole numbers from 1 and from 0.

    Raises:
        ParameterError: a `ValueError`, if a value is not allowed; the message says what to do.

    >>> config = specviz.RunConfig("Once", builder="sequoia:size=16", verifier="sequoia", temperature=0.8)
    >>> config.builder.size, config.target_sampling.temperature
    (16, 0.8)
    """

    prompt: str | Sequence[Annotated[int, Field(ge=0)]] = "Once upon a time"
    builder: Annotated[Any, Field(validate_default=True)] = "sequoia"
    verifier: Annotated[Any, Field(validate_default=True)] = "sequoia"
    temperature: Temperature = 0.8
    top_p: TopP = 1.0
    top_k: TopK | None = None
    draft_temperature: Temperature | None = None
    max_new_tokens: Positive = 128
    seed: Whole = 0
    drafter: Annotated[Any, Field(validate_default=True)] = None

    @field_validator("builder", "verifier", "drafter")
    @classmethod
    def _strategy(cls, value: Any, info: Any) -> Any:
        return strategy_of(info.field_name, "model" if value is None and info.field_name == "drafter" else value)

    @field_validator("prompt")
    @classmethod
    def _not_empty(cls, prompt: Any) -> Any:
        if not prompt:
            raise ParameterError("prompt", "not be empty", hint="Give a few words for the models to continue.")
        return prompt if isinstance(prompt, str) else tuple(prompt)

    @property
    def target_sampling(self) -> Sampling:
        """How the target's logits become rows."""
        return Sampling(self.temperature, self.top_p, self.top_k)

    @property
    def draft_sampling(self) -> Sampling:
        """How the draft's logits become rows."""
        temperature = (self.temperature or 0.6) if self.draft_temperature is None else self.draft_temperature
        return Sampling(temperature, self.top_p, self.top_k)

    def autoregressive(self) -> RunConfig:
        """The same run with plain decoding."""
        return replace(self, builder="plain", verifier="plain")

    def to_dict(self) -> dict[str, Any]:
        """The configuration as plain JSON data, its strategies by name and parameters."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return values | {kind: values[kind].to_dict() for kind in ("builder", "verifier", "drafter")}
