"""What entries measure with: one pair, its texts, rows, runs, vectors and costs, each made once and shared by all.

Whoever watches sees how far a measurement is, and may stop it there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ..acceptance.on_text import acceptance_vector, own_texts
from ..acceptance.positions import distributions_on_text
from ..benchmarks.cost import PROMPT, cost_table
from ..benchmarks.trials import Trial, trials
from ..builders import BUILDERS
from ..builders.base import TreeBuilder
from ..compatibility import suited
from ..config import Choice, RunConfig
from ..decode import autoregress, run
from ..metrics import drafted, seconds_per_token, speedup, tokens_per_pass
from ..models.base import Pair
from ..paths import HELD_OUT
from ..planning.cost_table import CostTable
from ..record import Trace
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier

SIZES = (1, 2, 4, 8, 16, 32, 64, 96)  # nodes of the passes whose cost is measured


class Row(NamedTuple):
    """One position of a text: p and q after it, the token that follows, and where that stands."""

    p: np.ndarray
    q: np.ndarray
    token: int
    position: int


@dataclass
class Bench:
    """A pair to measure with.

    Args:
        pair: the models.
        texts_each, tokens: prompts of each kind that are continued, and by how many tokens.
        seconds: how long the costs of this machine may be measured.
        tell: gets sentences on what is being done; it may raise to stop.
    """

    pair: Pair
    texts_each: int = 4
    tokens: int = 48
    seconds: float = 25.0
    report: Callable[[str], None] = lambda sentence: None

    def __post_init__(self) -> None:
        self._kept: dict[Any, Any] = {}

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What `make` returns, made at the first call with this key."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]

    @cached_property
    def kinds(self) -> dict[str, list[str]]:
        """Prompts of each kind that training never saw."""
        held_out = json.loads(HELD_OUT.read_text(encoding="utf-8"))
        return {kind: prompts[: self.texts_each] for kind, prompts in held_out.items()}

    @property
    def prompts(self) -> list[str]:
        """Prompts of all kinds in turn."""
        return list(chain.from_iterable(zip(*self.kinds.values(), strict=True)))

    def config(self, temperature: float, **more: Any) -> RunConfig:
        """A configuration with this bench's length and seed."""
        own: dict[str, Any] = {"prompt": PROMPT, "temperature": temperature, "max_new_tokens": self.tokens, "seed": 1}
        return RunConfig(**own | more)

    def texts(self, temperature: float, **more: Any) -> list[tuple[list[int], int]]:
        """The target's own continuations of the prompts, as token ids, and how many of them were the prompt."""

        def make() -> list[tuple[list[int], int]]:
            config = self.config(temperature, **more)
            written: list[tuple[list[int], int]] = []
            for turn, prompt in enumerate(self.prompts):
                self.report(
                    f"The target writes at temperature {temperature:g}: text {turn + 1} of {len(self.prompts)}."
                )
                (text,) = own_texts(self.pair, [prompt], replace(config, seed=config.seed + turn))
                written.append((text, len(self.pair.encode(prompt))))
            return written

        return self.once(("texts", temperature, *more.items()), make)

    def rows(self, temperature: float, **more: Any) -> list[list[Row]]:
        """Both models' rows at every token that the target wrote, text by text."""

        def make() -> list[list[Row]]:
            config, texts = self.config(temperature, **more), []
            for text, begin in self.texts(temperature, **more):
                self.report(f"Both models read at temperature {temperature:g}.")
                rows = distributions_on_text(self.pair, text, config)
                texts.append([Row(p, q, text[at + 1], at + 1) for at, p, q in rows if at + 1 >= begin])
            return texts

        return self.once(("rows", temperature, *more.items()), make)

    def positions(self, temperature: float, **more: Any) -> list[Row]:
        """The rows of all texts together."""
        return list(chain.from_iterable(self.rows(temperature, **more)))

    def vector(self, temperature: float, rule: str = "sequoia", width: int = 32, **more: Any) -> tuple[float, ...]:
        """The acceptance vector of a rule on the target's own text."""

        def make() -> tuple[float, ...]:
            texts = [text for text, _ in self.texts(temperature, **more)]
            self.report(f"Acceptance of {VERIFIERS[rule].title} at temperature {temperature:g}.")
            wide = min(width, self.pair.vocab_size)
            vector = acceptance_vector(self.pair, VERIFIERS[rule](), texts, self.config(temperature, **more), wide)
            return vector.acceptance

        return self.once(("vector", temperature, rule, width, *more.items()), make)

    def rule_for(self, builder: TreeBuilder, temperature: float) -> Verifier:
        """The first rule of the menu that suits a builder."""
        return VERIFIERS[suited(RunConfig(builder=builder, temperature=temperature))]()

    def runs(
        self,
        builder: TreeBuilder,
        temperature: float,
        rule: Verifier | None = None,
        prompts: Sequence[str] | None = None,
        **more: Any,
    ) -> list[Trace]:
        """Runs with a builder on the prompts, each with a seed of its own."""
        rule = rule or self.rule_for(builder, temperature)
        prompts = self.prompts if prompts is None else prompts

        def make() -> list[Trace]:
            traces = []
            for turn, prompt in enumerate(prompts):
                self.report(
                    f"{builder.title} with {rule.title}, temperature {temperature:g}: {turn + 1} of {len(prompts)}."
                )
                config = self.config(temperature, prompt=prompt, builder=builder, verifier=rule, **more)
                traces.append(run(self.pair, replace(config, seed=config.seed + turn)))
            return traces

        return self.once(("runs", _key(builder), _key(rule), temperature, tuple(prompts), *more.items()), make)

    def plain(self, temperature: float, prompts: Sequence[str] | None = None, **more: Any) -> list[Trace]:
        """Plain decoding of the same prompts with the same seeds."""
        prompts = self.prompts if prompts is None else prompts

        def make() -> list[Trace]:
            traces = []
            for turn, prompt in enumerate(prompts):
                self.report(f"Plain decoding, temperature {temperature:g}: {turn + 1} of {len(prompts)}.")
                config = self.config(temperature, prompt=prompt, **more)
                traces.append(autoregress(self.pair, replace(config, seed=config.seed + turn)))
            return traces

        return self.once(("plain", temperature, tuple(prompts), *more.items()), make)

    def cost(self) -> CostTable:
        """What passes cost here."""

        def make() -> CostTable:
            self.report("Timing passes of rising size.")
            return cost_table(self.pair, self.config(0.8), sizes=SIZES, rounds=4, seconds=self.seconds)

        return self.once("cost", make)

    def timed(
        self, builders: Mapping[str, TreeBuilder], temperature: float, rule: Verifier | None = None, count: int = 4
    ) -> dict[str, Trial]:
        """Builders of whole trees timed in turn against plain decoding, under one rule."""

        def make() -> dict[str, Trial]:
            latest: Sequence[Trial] = ()
            chosen = rule or self.rule_for(next(iter(builders.values())), temperature)
            config = self.config(temperature, max_new_tokens=min(48, self.tokens))
            for news in trials(self.pair, builders, chosen, config, self.prompts[:count]):
                self.report(f"Timing at temperature {temperature:g}: {news.done} of {news.of} runs.")
                latest = news.known or latest
            return {trial.name: trial for trial in latest}

        key = tuple((name, _key(builder)) for name, builder in builders.items())
        return self.once(("timed", key, temperature, rule and _key(rule), count), make)


def _key(strategy: Any) -> str:
    return json.dumps([strategy.name, Choice.of(strategy).parameters], default=str)


__all__ = ["BUILDERS", "VERIFIERS", "Bench", "Row", "drafted", "seconds_per_token", "speedup", "tokens_per_pass"]
