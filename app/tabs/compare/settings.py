"""The controls of the tab Compare: what all runs share, and for each column what decodes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from specviz.config.run_config import compatible

from ...parts.controls import LABELS, Controls, engines_menu, mark, picker, scalar_controls
from ...parts.stage import notice, sentence
from ..explore import judged
from . import race
from .entry import Entry

KINDS = {"speculation": "Speculation", "plain": "Plain decoding", "off": "Off"}
# what each column holds at first: the race that the tab opens with
FIRST = {
    "A": ("plain", race.TREE),
    "B": ("speculation", race.CHAIN),
    "C": ("speculation", race.TREE),
}
OPTIONAL = "C"


@dataclass
class Column:
    """One column: what decodes it (of `KINDS`), and the controls of a configuration."""

    letter: str
    kind: gr.Radio
    body: gr.Column
    controls: Controls
    notice_box: gr.HTML

    @property
    def inputs(self) -> list[gr.components.Component]:
        """Its controls, the kind of decoding first."""
        return [self.kind, *self.controls.strategies.values()]

    @property
    def outputs(self) -> list[Any]:
        """The components that `updates` is for."""
        return [self.body, self.notice_box, *self.controls.strategies.values()]

    def verdict(self, kind: Any, values: tuple[Any, ...]) -> tuple[str, str]:
        """The remark on it while the prompt may be empty: a kind of notice and its sentence.

        Args:
            kind: what decodes it.
            values: of the inputs of `controls`.
        """
        offered = kinds(self.letter)
        if not isinstance(kind, str) or kind not in offered:
            return (
                "error",
                (
                    f"{self.letter} must be one of {', '.join(offered.values())}; got "
                    f"{str(kind)[:40]!r}."
                ),
            )
        return judged(self.controls, values)[:2] if kind == "speculation" else ("", "")

    def updates(self, kind: Any, values: tuple[Any, ...]) -> list[Any]:
        """The updates of `outputs`: menus marked for what is chosen, and the sentence on it."""
        config = judged(self.controls, values)[2]
        marked = [gr.skip() for _ in LABELS] if config is None else mark(config)
        return [gr.Column(visible=kind == "speculation"), self.sentence(kind, values), *marked]

    def sentence(self, kind: Any, values: tuple[Any, ...]) -> str:
        """The value of its notice: what is wrong, lossy or without effect; empty otherwise."""
        verdict, text = self.verdict(kind, values)
        return sentence("", "") if verdict == "lossless" else sentence(verdict, text)

    def entry(self, kind: Any, values: tuple[Any, ...]) -> Entry | None:
        """What it runs; None if it is empty.

        Raises:
            ValueError: a sentence for the visitor.
        """
        if kind not in ("speculation", "plain"):
            verdict, text = self.verdict(kind, values)
            if verdict == "error":
                raise ValueError(text)
            return None
        if kind == "plain":  # what is hidden cannot be wrong
            hidden = self.controls.strategies.values()
            values = (*values[: -len(hidden)], *(control.value for control in hidden))
        config = self.controls.read(values)
        if kind == "speculation":
            compatible(config).required()
        return Entry(self.letter, config.autoregressive() if kind == "plain" else config)


@dataclass
class Settings:
    """All that determines a comparison, as controls on the page; a link may set any of `inputs`."""

    prompt: gr.Textbox
    scalars: dict[str, gr.components.Component]
    columns: tuple[Column, ...]

    @property
    def shared(self) -> list[gr.components.Component]:
        """The controls that hold for every column."""
        return [self.prompt, *self.scalars.values()]

    @property
    def inputs(self) -> list[gr.components.Component]:
        """All controls, the shared ones first."""
        return [*self.shared, *(control for column in self.columns for control in column.inputs)]

    @property
    def outputs(self) -> list[Any]:
        """The components that `updates` is for."""
        return [part for column in self.columns for part in column.outputs]

    @property
    def named(self) -> dict[str, Any]:
        """All controls by the name of their parameter in a link, such as "seed" or "a.builder"."""
        columns = {
            f"{c.letter.lower()}.{n}": one
            for c in self.columns
            for n, one in {"decodes": c.kind, **c.controls.strategies}.items()
        }
        return {"prompt": self.prompt, **self.scalars, **columns}

    def split(self, values: Sequence[Any]) -> list[tuple[Any, tuple[Any, ...]]]:
        """Of the values of `inputs`, what decodes each column and the values of its
        `controls.inputs`."""
        shared, remaining = values[: len(self.shared)], values[len(self.shared) :]
        results = []
        for column in self.columns:
            (kind, *own_values), remaining = (
                remaining[: len(column.inputs)],
                remaining[len(column.inputs) :],
            )
            results.append((kind, (*shared, *own_values)))
        return results

    def updates(self, values: Sequence[Any]) -> list[Any]:
        """What each of `outputs` shows for these values."""
        return [
            update
            for column, mine in zip(self.columns, self.split(values), strict=True)
            for update in column.updates(*mine)
        ]

    def possible(self, values: Sequence[Any]) -> bool:
        """Whether every column can run, the prompt aside."""
        results = [
            column.verdict(*mine)[0]
            for column, mine in zip(self.columns, self.split(values), strict=True)
        ]
        return not {"impossible", "error"} & set(results)

    def read(self, values: Sequence[Any]) -> list[Entry]:
        """What the values of `inputs` ask to run.

        Raises:
            ValueError: a sentence for the visitor that names the column.
        """
        split, results = self.split(values), []
        self.columns[0].entry("plain", split[0][1])  # what all share is wrong for all
        for column, mine in zip(self.columns, split, strict=True):
            try:
                results.append(column.entry(*mine))
            except ValueError as error:
                raise ValueError(f"{column.letter}: {error}") from None
        return [entry for entry in results if entry]

    def with_labels(self, error: ValueError) -> str:
        """What an error of the library says, with the page's labels."""
        return self.columns[0].controls.with_labels(error)


def kinds(letter: str) -> dict[str, str]:
    """Of `KINDS`, what a column may be; at least two columns decode."""
    return {kind: title for kind, title in KINDS.items() if kind != "off" or letter == OPTIONAL}


def column(letter: str, prompt: gr.Textbox, scalars: dict[str, Any]) -> Column:
    """Lay out the controls of a column, as they are in the recorded race."""
    choices = [(title, kind) for kind, title in kinds(letter).items()]
    with gr.Column(
        elem_classes=f"sv-side sv-run-{letter}", elem_id=f"sv-side-{letter}", min_width=220
    ):
        decodes, config = FIRST[letter]
        kind = gr.Radio(choices, value=decodes, label=letter, elem_classes="sv-choice")
        with gr.Column(elem_classes="sv-side-body", visible=decodes == "speculation") as body:
            pickers = {
                kind: picker(kind, config, f"{title} of {letter}", True)
                for kind, title in LABELS.items()
            }
            engines_menu(pickers, f" of {letter}")
        notice_box = notice("", elem_id=f"sv-side-{letter}-notice")
    return Column(letter, kind, body, Controls(prompt, scalars, pickers), notice_box)


def lay_out(prompt: gr.Textbox) -> Settings:
    """Lay out everything below the prompt."""
    with gr.Row(elem_classes="sv-sides"):
        with gr.Column(min_width=220):
            scalars = scalar_controls()
        columns = tuple(column(letter, prompt, scalars) for letter in FIRST)
    for name, control in scalars.items():
        if (value := getattr(race.TREE, name)) is not None:
            control.value = value
    settings = Settings(prompt, scalars, columns)
    for side, (kind, values) in zip(
        settings.columns,
        settings.split([control.value for control in settings.inputs]),
        strict=True,
    ):
        side.notice_box.value = side.sentence(kind, values)
    return settings
