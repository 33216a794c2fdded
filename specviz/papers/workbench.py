"""What claims are measured with: one pair, and texts of several seeds that it continues."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..base.files import HELD_OUT
from ..base.progress import Progress, Result
from ..config.run_config import RunConfig
from ..measure.positions import distributions_on_text
from ..measure.texts import continuations
from ..models.base import Pair
from ..sampling.randomness import Randomness, Seeded
from .number import parse_call
from .verdict import Columns

SEEDS = (1, 2, 3)
TEXTS = 2  # of each kind and seed
MAX_TEXTS = 6  # so that no two seeds have a prompt in common


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
    """One position of a text: p and q after it, the token that follows, how many positions are
    before it, and the randomness of the text."""

    p: np.ndarray
    q: np.ndarray
    token: int
    place: int
    rng: Randomness

    @property
    def overlap(self) -> float:
        """The acceptance of one draft, 1 - TV."""
        return min(1.0, float(np.minimum(self.p, self.q).sum()))


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
    _cache: dict[Hashable, Any] = field(default_factory=dict)

    def cached(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """What `make` returned at the first call with this key."""
        if key not in self._cache:
            self._cache[key] = make()
        return self._cache[key]

    def texts(self, kind: str = "") -> Iterator[Text]:
        """All texts, of one kind or of all in turn."""
        kinds = {name: prompts for name, prompts in held_out().items() if kind in ("", name)}
        for seed in self.seeds:
            for index in range(self.texts_each):
                for number, prompts in enumerate(kinds.values(), len(kinds) * index):
                    yield Text(seed, number, prompts[(MAX_TEXTS * seed + index) % len(prompts)])

    def config(self, text: Text, **settings: Any) -> RunConfig:
        """The configuration that continues a text."""
        settings.setdefault("max_new_tokens", self.tokens)
        return RunConfig(text.prompt, seed=text.seed, **settings)

    def rows(self, text: Text, **settings: Any) -> list[Row]:
        """Both models' distributions at every token of the target's own continuation."""
        config = self.config(text, **settings)
        # What the target writes does not depend on how the draft is sampled.
        key = (text.name, config.temperature, config.top_p)
        written = self.cached(key, lambda: next(continuations(self.pair, [text.prompt], config)))
        rng = Seeded(text.seed)
        rows: list[Row] = []
        for at, p, q in distributions_on_text(self.pair, written, config):
            rows.append(Row(p, q, written.tokens[at + 1], len(rows), rng))
        return rows

    def measure(self, call: str, measured: Columns) -> Iterator[Progress[Columns]]:
        """Measure every text that was not measured yet.

        Args:
            call: of the measurement.
            measured: what was measured before.

        Yields:
            Texts done, of how many, and the sums so far; of a proof its one result.
        """
        (function, kind), arguments = parse_call(call)
        texts: dict[str, Text | None] = {"": None}  # that a proof reads
        if kind != "proof":
            texts = {text.name: text for text in self.texts(arguments.pop("kind", ""))}
        missing = [name for name in texts if name not in measured]
        columns = dict(measured)
        for number, text in enumerate(missing, 1):
            sums = function(self, texts[text], **arguments)
            # Six digits, so that the file is small.
            columns[text] = {name: float(f"{float(sums[name]):.6g}") for name in sums}
            yield Progress(number, len(missing), call, columns)


@lru_cache
def held_out() -> dict[str, list[str]]:
    """The prompts of each kind."""
    return json.loads(HELD_OUT.read_text(encoding="utf-8"))
