"""One column of a comparison: a configuration under a letter, and what the page calls it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.config.run_config import RunConfig, compatible
from specviz.config.strategy_text import format_value
from specviz.drafters.base import Drafter
from specviz.proof.same_text import promised

LETTERS = "ABC"
LONGEST = 20  # characters of a parameter for which a column has room


@dataclass(frozen=True)
class Entry:
    """What one column runs.

    Args:
        letter: its name on the page.
        config: its configuration; all entries of a comparison share prompt, seed, length and
            sampling.
    """

    letter: str
    config: RunConfig

    @property
    def autoregressive(self) -> bool:
        """Whether it is plain decoding, with the target alone."""
        return self.config.builder.name == "plain"

    @property
    def kind(self) -> str:
        """What it is, which gives it its colour: "plain", "chain" or "tree"."""
        name = self.config.builder.name
        if name in ("plain", "chain"):
            return name
        return "tree"

    @property
    def tree(self) -> str:
        """Its tree in a few words: "Sequoia 16", "Chain of 5"."""
        if self.autoregressive:
            return "Plain decoding"
        builder = self.config.builder
        name, value = self.first
        if value == "auto":
            return builder.title
        of = ""
        if name == "depth":
            of = "of "
        return f"{builder.title} {of}{format_value(value)}"

    @property
    def first(self) -> tuple[str, object]:
        """The parameter of its builder that its name has, with its value: the first, as builders
        name their most telling one first."""
        return next(iter(self.config.builder.parameters.items()), ("", "auto"))

    @property
    def drafter(self) -> Drafter | None:
        """The drafter; None if there is none."""
        # A look-up drafts without a model, and plain decoding not at all.
        reads = self.config.builder.reads_draft and not self.autoregressive
        if reads:
            return self.config.drafter
        return None

    @property
    def details(self) -> str:
        """The parameters in words, without those at their defaults and what its name has."""
        if self.autoregressive:
            return "the target alone"
        parts = [f"{self.config.verifier.title}’s rule"]
        # Only what differs from the defaults: a column has room for a few words.
        for strategy in filter(None, (self.config.builder, self.config.verifier, self.drafter)):
            schema = strategy.parameter_schema()
            for name, value in strategy.parameters.items():
                if strategy is self.config.builder and name == self.first[0]:
                    continue
                text = format_value(value)
                changed = value != type(strategy).model_fields[name].default
                if changed and len(text) <= LONGEST:
                    parts.append(f"{schema[name]['title'].lower()} {text}")
        return ", ".join(parts)

    @property
    def lossy(self) -> str | None:
        """Why its text does not follow the target's distribution, if it does not."""
        match = compatible(self.config)
        if self.autoregressive or match.lossless:
            return None
        return match.reason

    @property
    def same_as_plain(self) -> bool:
        """Whether its text must equal that of plain decoding."""
        return self.autoregressive or promised(self.config.verifier, self.config.temperature)


def titles(entries: Sequence[Entry]) -> list[str]:
    """What each is called beside the others: its tree, with its drafter and its rule where that is
    what differs."""
    drafters = {entry.drafter.name for entry in entries if entry.drafter is not None}
    trees = [entry.tree for entry in entries]
    named = []
    for entry in entries:
        # Only what tells them apart: the drafter where there are several, else the rule where two
        # have the same tree.
        parts = [entry.tree]
        if entry.drafter is not None and len(drafters) > 1:
            parts.append(entry.drafter.title)
        elif not entry.autoregressive and trees.count(entry.tree) > 1:
            parts.append(entry.config.verifier.title)
        named.append(" · ".join(parts))
    return named
