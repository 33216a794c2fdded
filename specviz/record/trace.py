"""The record of a whole run: its configuration, its steps and its text, as JSON and back."""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib import import_module
from typing import Annotated

from pydantic import Field, model_validator

from ..base import codec
from ..base.codec import JsonObject, NonNegative, Positive, Record, Text, Whole
from ..config.run_config import RunConfig
from .metrics import Counts
from .step import Step, written_tokens

SCHEMA = 3


@dataclass(frozen=True)
class PairedSpeedup(Record):
    """A run against plain decoding, timed in alternating rounds: the speedup of all of them, `low`
    and `high` of one.

    Seconds are those that all tokens of the run take at these rates; `date` is ISO 8601, `machine`
    is in words.
    """

    speedup: NonNegative
    low: NonNegative
    high: NonNegative
    rounds: Positive
    tokens_per_s: NonNegative
    plain_tokens_per_s: NonNegative
    seconds: NonNegative
    plain_seconds: NonNegative
    date: Text = ""
    machine: Text = ""

    @property
    def spread(self) -> str:
        """How many rounds there were, and between what they lie."""
        if self.rounds == 1:
            return "1 round"
        return f"{self.rounds} rounds, each {self.low:.2f} to {self.high:.2f}"


@dataclass(frozen=True)
class Trace(Record):
    """A whole run: its configuration, its prompt, its steps and its text.

    Args:
        config: the configuration it ran with.
        pair: name of the model pair and what else describes it, plain JSON data with at least
            "name".
        prompt_tokens, prompt_text: the prompt as token ids and as text.
        steps: the steps in order.
        stop, version: why it ended ("length", "end of text", "context" or "stopped"), and what
            version recorded it.
        speedup: over plain decoding, as it was measured after the run; None where it was not.
    """

    config: RunConfig
    pair: JsonObject
    prompt_tokens: Annotated[tuple[Whole, ...], Field(max_length=200_000)]
    prompt_text: Text
    steps: Annotated[tuple[Step, ...], Field(max_length=20_000)]
    stop: Text
    version: Text = ""
    speedup: PairedSpeedup | None = None

    @property
    def tokens(self) -> tuple[int, ...]:
        """The token ids that the run wrote, without the prompt."""
        return tuple(written_tokens(self.steps))

    @property
    def text(self) -> str:
        """The text that the run wrote, without the prompt."""
        return "".join("".join(step.emitted_texts) for step in self.steps)

    @property
    def check_sum(self) -> str:
        """A check sum of the text (FNV-1a, 32 bits), by which a link says whether another run wrote
        the same."""
        total = 0x811C9DC5
        for byte in self.text.encode():
            total = (total ^ byte) * 0x01000193 % 2**32
        return f"{total:08x}"

    @property
    def counts(self) -> Counts:
        """The sums over its steps, from which its rates follow."""
        return Counts.of(self.steps)

    @property
    def tokens_per_pass(self) -> float:
        """Tokens written per pass of the target, all steps; nan without steps."""
        return self.counts.tokens_per_pass

    @property
    def tokens_per_s(self) -> float:
        """Tokens written per second after the first step, which also reads the prompt; nan where
        there is no other."""
        return self.counts.tokens_per_s

    @property
    def acceptance(self) -> float:
        """Accepted over compared nodes (nodes that were not visited do not count); nan if none was
        compared."""
        return self.counts.acceptance

    def __repr__(self) -> str:
        name = f"{self.pair['name']:.60}"
        return (
            f"Trace({name!r}, {len(self.steps)} steps, {len(self.tokens)} tokens, "
            f"{self.text[:60]!r})"
        )

    def to_dict(self) -> JsonObject:
        """The trace as plain JSON data."""
        # Under names of its own, which older files have: the fields of this class may be renamed.
        data = {"schema": SCHEMA, "version": self.version, "config": self.config.to_dict()}
        for name in ("pair", "prompt_tokens", "prompt_text", "text", "stop"):
            data[name] = getattr(self, name)
        data = codec.json_data(data, all_digits=True)
        data["steps"] = [step.to_dict() for step in self.steps]
        if self.speedup:
            data["speedup"] = codec.json_data(self.speedup)
        return data

    def to_json(self) -> str:
        """The trace as JSON text; the numbers of steps keep six significant digits."""
        return codec.compact_json(self.to_dict())

    def _repr_html_(self) -> str:
        """The run as a notebook shows it: the player, in a frame that needs no network."""
        # The player stands above the records, so it is looked up when a notebook asks.
        return import_module("specviz.view.offline").in_notebook(self)

    @classmethod
    def from_json(cls, text: str) -> Trace:
        """Read the `text` that `to_json` wrote; a `ValueError` says what is wrong with it.

        >>> trace = specviz.run(specviz.toy_pair(), specviz.RunConfig("ab", max_new_tokens=8))
        >>> specviz.Trace.from_json(trace.to_json()).tokens == trace.tokens
        True
        """
        # Schema and configuration first, so that an old file is told so instead of its first odd
        # field.
        data = codec.read(object, text, "trace")
        if not isinstance(data, dict) or "schema" not in data:
            raise ValueError("Not a specviz run: it has no schema number.")
        if data["schema"] != SCHEMA:
            raise ValueError(
                f"trace has schema {data['schema']!r:.20}; this version reads schema "
                f"{SCHEMA}. Record the run again."
            )
        config = data.get("config")
        if not isinstance(config, dict):
            raise ValueError("trace is damaged: trace.config must be an object.")
        for field in fields(RunConfig):
            # A default would be a guess at what was run; only the oldest traces have no drafter.
            if field.name not in {*config, "drafter"}:
                raise ValueError(f"trace is damaged: trace.config.{field.name} is required.")
        return codec.read(cls, text, "trace")

    @model_validator(mode="after")
    def _check(self) -> Trace:
        if not isinstance(self.pair.get("name"), str):
            raise ValueError('must have a text "name" in pair')
        return self
