"""What claims are measured with: one pair, and texts of several seeds that it continues.

Whoever watches sees how far a measurement is, and may stop it there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..acceptance.positions import distributions_on_text
from ..acceptance.texts import Text as WrittenText
from ..acceptance.texts import continuations
from ..config import RunConfig
from ..files import HELD_OUT
from ..models.base import Pair
from .claim import Columns, Data

SEEDS = (1, 2, 3)
TEXTS, MOST_TEXTS = 2, 6  # of each kind and seed: by default, and at most, so that no two seeds have a prompt in common


class Text(NamedTuple):
    """A prompt that training never saw, with the seed it is continued with: one unit of every interval."""

    group: int
    number: int
    prompt: str
    kind: str

    @property
    def name(self) -> str:
        return f"{self.group}:{self.number}"

    @property
    def seed(self) -> int:
        """A seed of its own."""
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
        seeds: each continues prompts of its own.
        texts_each: prompts of each kind and seed, up to `MOST_TEXTS`.
        tokens: how many are written after a prompt.
        seconds: how long the costs of this machine may be measured.
        report: gets sentences on what is being done; it may raise to stop.
    """

    pair: Pair
    seeds: Sequence[int] = SEEDS
    texts_each: int = TEXTS
    tokens: int = 96
    seconds: float = 25.0
    report: Callable[[str], None] = lambda sentence: None
    _kept: dict[Any, Any] = field(default_factory=dict)

    def kept(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returned at the first call with this key."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    def once(self, key: Any) -> bool:
        """Whether this is the first call with this key."""
        first = key not in self._kept
        self._kept[key] = True
        return first

    def texts(self, kind: str = "") -> Iterator[Text]:
        """All texts, of one kind or of all in turn."""
        kinds = {name: prompts for name, prompts in held_out().items() if kind in ("", name)}
        for seed in self.seeds:
            for place in range(self.texts_each):
                for turn, (name, prompts) in enumerate(kinds.items()):
                    prompt = prompts[(MOST_TEXTS * seed + place) % len(prompts)]
                    yield Text(seed, len(kinds) * place + turn, prompt, name)

    def config(self, text: Text, temperature: float, **more: Any) -> RunConfig:
        """The configuration that continues a text."""
        own: dict[str, Any] = {
            "prompt": text.prompt,
            "temperature": temperature,
            "max_new_tokens": self.tokens,
            "seed": text.seed,
        }
        return RunConfig(**own | more)

    def written(self, text: Text, temperature: float, top_p: float = 1.0) -> WrittenText:
        """The target's own continuation, as token ids; written once."""
        config = self.config(text, temperature, top_p=top_p)

        def make() -> WrittenText:
            (written,) = continuations(self.pair, [text.prompt], config)
            return written

        return self.kept(("written", text.name, temperature, top_p), make)

    def rows(self, text: Text, temperature: float, top_p: float = 1.0, **more: Any) -> list[Row]:
        """Both models' distributions at every token that the target wrote."""
        written = self.written(text, temperature, top_p)
        found = distributions_on_text(self.pair, written, self.config(text, temperature, top_p=top_p, **more))
        return [Row(p, q, written.tokens[at + 1]) for at, p, q in found]

    def measure(self, data: Data, known: Columns | None = None) -> Columns:
        """The sums of every text that is not known yet, and those that are; of a proof its one result.

        Raises:
            ValueError: if this machine cannot measure it.
        """
        if lacking := data.lacks():
            raise ValueError(lacking)
        args: dict[str, Any] = dict(data.args)
        if data.how == "proof":
            self.report(data.key)
            return {"": _plain(data.make(self, **args))}
        columns = dict(known or {})
        texts = [text for text in self.texts(args.pop("kind", "")) if text.name not in columns]
        for turn, text in enumerate(texts, 1):
            self.report(f"{data.key}: text {turn} of {len(texts)}.")
            columns[text.name] = _plain(data.make(self, text, **args))
        return columns


def _plain(found: Mapping[str, Any]) -> dict[str, float]:
    return {name: float(f"{float(value):.6g}") for name, value in found.items()}


@lru_cache
def held_out() -> dict[str, list[str]]:
    """The prompts of each kind."""
    return json.loads(HELD_OUT.read_text(encoding="utf-8"))
