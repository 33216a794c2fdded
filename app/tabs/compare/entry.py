"""One column of a comparison: a configuration, or plain decoding, under a letter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from specviz import RunConfig, Step, compatible, speculate
from specviz.proof.same_text import promised
from specviz.registry import build


@dataclass(frozen=True)
class Entry:
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
        return build("builder", self.config.builder)

    @property
    def verifier(self) -> Any:
        return build("verifier", self.config.verifier)

    @property
    def title(self) -> str:
        return "Plain decoding" if self.plain else f"{self.builder.title} × {self.verifier.title}"

    @property
    def drafter(self) -> Any:
        """Who guesses; None where nobody is asked."""
        return None if self.plain or not self.builder.reads_draft else build("drafter", self.config.drafter)

    @property
    def details(self) -> str:
        """The parameters in words, without those that are left to the machine."""
        if self.plain:
            return "the target alone"
        given = ((f.metadata["label"].lower(), getattr(strategy, f.name))
                 for strategy in filter(None, (self.builder, self.verifier, self.drafter))
                 for f in fields(strategy))  # fmt: skip
        return ", ".join(f"{label} {_short(value)}" for label, value in given if value != "auto")

    @property
    def lossy(self) -> str | None:
        """Why its text is not the target's own, if it is not."""
        if self.plain:
            return None
        match = compatible(self.config)
        return None if match.lossless else match.reason

    @property
    def same_as_plain(self) -> bool:
        """Whether it promises plain decoding's very text."""
        return self.plain or promised(self.verifier, self.config.temperature)

    def steps(self, pair: Any) -> Iterator[Step]:
        """Decode."""
        return speculate(pair, self.config.plainly() if self.plain else self.config)

    def about(self, alike: bool = False) -> dict[str, Any]:
        """What the page gets of it.

        Args:
            alike: whether all of a comparison differ in their drafters alone, which is then its title.
        """
        names = ("letter", "title", "details", "lossy", "plain")
        data = {name: getattr(self, name) for name in names} | {"most": self.config.max_new_tokens}
        if self.drafter is not None and alike:
            data |= {"title": self.drafter.title, "details": f"{self.title}, {self.details}"}
        elif self.drafter is not None and self.drafter.name != "model":
            data["title"] = f"{self.drafter.title}: {self.title}"
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
