"""One column of a comparison: a configuration under a letter, and what the page calls it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from specviz.config.run_config import RunConfig, compatible
from specviz.config.strategy_text import format_value
from specviz.drafters.base import Drafter
from specviz.proof.same_text import promised


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
        return self.config.builder.autoregressive

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
        builder = self.config.builder
        # Builders name their most telling parameter first.
        name, value = next(iter(builder.parameters.items()), ("", "auto"))
        if value == "auto":
            return builder.title
        of = ""
        if name == "depth":
            of = "of "
        return f"{builder.title} {of}{format_value(value)}"

    @property
    def drafter(self) -> Drafter | None:
        """The drafter; None where none is read, as by prompt lookup and by plain decoding."""
        if self.config.builder.reads_draft:
            return self.config.drafter
        return None

    @property
    def details(self) -> str:
        """Its rule, and all parameters that are not at their defaults, without what its name
        has."""
        if self.autoregressive:
            return ""
        rule = self.config.verifier
        parts = [f"{rule.title}’s rule"]
        skipped = 1  # the first parameter of the tree
        for strategy in filter(None, (self.config.builder, rule, self.drafter)):
            for name, value in list(strategy.parameters.items())[skipped:]:
                if value != type(strategy).model_fields[name].default:
                    parts.append(f"{name} {format_value(value)}")
            skipped = 0
        return ", ".join(parts)

    @property
    def lossy(self) -> str | None:
        """Why its text does not follow the target's distribution, if it does not."""
        match = compatible(self.config)
        if match.lossless:
            return None
        return match.reason

    @property
    def same_as_plain(self) -> bool:
        """Whether its text must equal that of plain decoding."""
        return promised(self.config.verifier, self.config.temperature)


def titles(entries: Sequence[Entry]) -> list[str]:
    """What each is called beside the others: its tree, with its drafter and its rule where that is
    what differs."""
    drafters = {entry.drafter.name for entry in entries if entry.drafter}
    trees = [entry.tree for entry in entries]
    named = []
    for entry in entries:
        # Only what tells them apart: the drafter where there are several, else the rule where two
        # have the same tree.
        title = entry.tree
        if len(drafters) > 1 and entry.drafter:
            title += f" · {entry.drafter.title}"
        elif trees.count(title) > 1 and not entry.autoregressive:
            title += f" · {entry.config.verifier.title}"
        named.append(title)
    return named
