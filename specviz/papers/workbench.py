"""What claims are measured with: one pair, and texts of several seeds that it continues."""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..base.files import HELD_OUT
from ..base.progress import Progress
from ..config.run_config import RunConfig
from ..measure.positions import distributions_on_text
from ..measure.texts import continuations
from ..models.base import Pair
from .claim import Columns

SEEDS = (1, 2, 3)
TEXTS, MAX_TEXTS = (
    2,
    6,
)  # of each kind and seed: by default, and at most, so that no two seeds have a prompt in common


class Measurement(NamedTuple):
    """A function of (bench, text, **arguments) to the sums of one text; of a proof (bench,
    **arguments)."""

    function: Callable[..., Mapping[str, Any]]
    kind: str  # "counted" (texts, no clock), "timed" or "proof"


MEASUREMENTS: dict[str, Measurement] = {}


def measurement(kind: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as a measurement that claims can name."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        MEASUREMENTS[function.__name__] = Measurement(function, kind)
        return function

    return register


def parse_key(key: str) -> tuple[Measurement, dict[str, Any]]:
    """The measurement that a key names, and its arguments: "runs builder=chain rule=block
    temperature=0.6".

    Raises:
        ValueError: if there is no such measurement.
    """
    name, *parts = re.split(r" (?=\w+=)", key)
    if name not in MEASUREMENTS:
        raise ValueError(
            f"data must name a measurement, one of {', '.join(MEASUREMENTS)}; got {name!r}."
        )
    pairs = (part.partition("=") for part in parts)
    return MEASUREMENTS[name], {argument: _literal(value) for argument, _, value in pairs}


def _literal(text: str) -> Any:
    try:
        return literal_eval(text)
    except (SyntaxError, ValueError):
        return text


class Text(NamedTuple):
    """A prompt that training never saw, with the seed it is continued with: one unit of every
    interval."""

    group: int
    number: int
    prompt: str

    @property
    def name(self) -> str:
        return f"{self.group}:{self.number}"

    @property
    def seed(self) -> int:
        return 1000 * self.group + self.number


class Row(NamedTuple):
    """One position of a text: p and q after it, and the token that follows."""

    p: np.ndarray
    q: np.ndarray
    token: int


@dataclass
class Workbench:
    """A pair and its texts.

    Args:
        pair: the models.
        texts_each: prompts of each kind and seed, up to `MAX_TEXTS`.
        seeds: each continues prompts of its own.
        tokens: how many are written after a prompt.
        seconds: how long the costs of this machine may be measured.
    """

    pair: Pair
    texts_each: int = TEXTS
    seeds: Sequence[int] = SEEDS
    tokens: int = 96
    seconds: float = 25.0
    _cache: dict[Any, Any] = field(default_factory=dict)

    def cached(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returned at the first call with this key."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def texts(self, kind: str = "") -> Iterator[Text]:
        """All texts, of one kind or of all in turn."""
        kinds = {name: prompts for name, prompts in held_out().items() if kind in ("", name)}
        for seed in self.seeds:
            for place in range(self.texts_each):
                for number, prompts in enumerate(kinds.values(), len(kinds) * place):
                    yield Text(seed, number, prompts[(MAX_TEXTS * seed + place) % len(prompts)])

    def config(self, text: Text, temperature: float, **more: Any) -> RunConfig:
        """The configuration that continues a text."""
        defaults: dict[str, Any] = {
            "prompt": text.prompt,
            "max_new_tokens": self.tokens,
            "seed": text.seed,
        }
        return RunConfig(temperature=temperature, **defaults | more)

    def rows(self, text: Text, temperature: float, top_p: float = 1.0, **more: Any) -> list[Row]:
        """Both models' distributions at every token of the target's own continuation."""
        config = self.config(text, temperature, top_p=top_p)
        key = ("written", text.name, temperature, top_p)
        written = self.cached(key, lambda: next(continuations(self.pair, [text.prompt], config)))
        config = self.config(text, temperature, top_p=top_p, **more)
        return [
            Row(p, q, written.tokens[at + 1])
            for at, p, q in distributions_on_text(self.pair, written, config)
        ]

    def measure(self, key: str, stored: Columns | None = None) -> Iterator[Progress[Columns]]:
        """Measure every text that is not stored yet.

        Args:
            key: of the measurement.
            stored: what was measured before.

        Yields:
            Texts done, of how many, and the sums so far; of a proof its one result.
        """
        measured, arguments = parse_key(key)
        if measured.kind == "proof":
            yield Progress(1, 1, key, {"": _rounded(measured.function(self, **arguments))})
            return
        columns = dict(stored or {})
        texts = [text for text in self.texts(arguments.pop("kind", "")) if text.name not in columns]
        for number, text in enumerate(texts, 1):
            columns[text.name] = _rounded(measured.function(self, text, **arguments))
            yield Progress(number, len(texts), key, columns)


def _rounded(sums: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(f"{float(value):.6g}") for name, value in sums.items()}


@lru_cache
def held_out() -> dict[str, list[str]]:
    """The prompts of each kind."""
    return json.loads(HELD_OUT.read_text(encoding="utf-8"))
