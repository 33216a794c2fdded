"""One column of a comparison: a configuration, or plain decoding, under a letter."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from specviz import RunConfig, Step, Trace, speculate
from specviz.benchmarks.trials import in_turns
from specviz.decode import collect
from specviz.metrics import Counts
from specviz.proof.same_text import promised
from specviz.trace import PairedSpeedup


class Endless:
    """A pair in which the end of a text does not stop a run, so that all runs of a comparison write as many tokens."""

    eos_ids: frozenset[int] = frozenset()

    def __init__(self, pair: Any) -> None:
        self._pair = pair

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pair, name)


@dataclass(frozen=True)
class ComparedRun:
    """What one column runs.

    Args:
        letter: its name on the page.
        config: its configuration; all entries of a comparison share prompt, seed, length and sampling.
        plain: whether it is plain decoding, with the target alone; builder and rule are not used then.
    """

    letter: str
    config: RunConfig
    plain: bool = False

    @property
    def builder(self) -> Any:
        return self.config.resolved.builder

    @property
    def verifier(self) -> Any:
        return self.config.resolved.verifier

    @property
    def title(self) -> str:
        """What it runs: the drafter if it is not the draft model, tree and rule."""
        other = self.drafter is not None and self.drafter.name != "model"
        return f"Drafter: {self.drafter.title} · {self.shape}" if other else self.shape

    @property
    def shape(self) -> str:
        """Its tree and its rule."""
        return "Plain decoding" if self.plain else f"Tree: {self.builder.title} · Rule: {self.verifier.title}"

    @property
    def drafter(self) -> Any:
        """The drafter; None if there is none."""
        return None if self.plain or not self.builder.reads_draft else self.config.resolved.drafter

    @property
    def details(self) -> str:
        """The parameters in words, without those that are left to the machine."""
        if self.plain:
            return "the target alone"
        given = (
            (strategy.parameter_schema()[name]["title"].lower(), value)
            for strategy in filter(None, (self.builder, self.verifier, self.drafter))
            for name, value in strategy.parameters.items()
        )
        return ", ".join(f"{label} {_short(value)}" for label, value in given if value != "auto")

    @property
    def lossy(self) -> str | None:
        """Why its text does not follow the target's distribution, if it does not."""
        if self.plain:
            return None
        match = self.config.resolved.match
        return None if match.lossless else match.reason

    @property
    def same_as_plain(self) -> bool:
        """Whether its text must equal that of plain decoding."""
        return self.plain or promised(self.verifier, self.config.temperature)

    def steps(self, pair: Any) -> Iterator[Step]:
        """Decode."""
        return speculate(Endless(pair), self.ran)

    def trace(self, pair: Any, steps: Iterable[Step]) -> Trace:
        """The steps as a record."""
        return collect(Endless(pair), self.ran, steps)

    @property
    def ran(self) -> RunConfig:
        """The configuration that it decodes with."""
        return self.config.plainly() if self.plain else self.config

    def timed(self, pair: Any, first: Counts) -> Iterator[PairedSpeedup | None]:
        """Time it against plain decoding, after it was decoded for the first time."""
        return in_turns(Endless(pair), self.config, first)

    def about(self, alike: bool = False) -> dict[str, Any]:
        """What the page gets of it.

        Args:
            alike: whether all of a comparison differ in their drafters alone, which is then its title.
        """
        names = ("letter", "title", "details", "lossy", "plain")
        data = {name: getattr(self, name) for name in names} | {"most": self.config.max_new_tokens}
        if self.drafter is not None and alike:
            data |= {"title": f"Drafter: {self.drafter.title}", "details": f"{self.shape}, {self.details}"}
        return data


def _short(value: Any) -> str:
    """A parameter's value on one line."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple) and all(isinstance(part, int) for part in value):
        return "-".join(map(str, value))
    if isinstance(value, tuple) and all(isinstance(part, str) for part in value):
        return " + ".join(value)
    return f"{value:g}" if isinstance(value, int | float) else value if isinstance(value, str) else "given"
