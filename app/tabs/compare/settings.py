"""The controls of the tab Compare: what all runs share, and for each column what decodes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import gradio as gr

from specviz.config.run_config import RunConfig, compatible

from ..explore import verdict
from ..parts.controls import LABELS, Controls, engines_menu, mark, picker, scalar_controls
from ..parts.stage import notice, sentence
from . import example
from .entry import Entry

KINDS = {"speculation": "Speculation", "plain": "Plain decoding"}
# what each column holds at first: the race that the tab opens with
FIRST = {
    "A": ("plain", example.TREE),
    "B": ("speculation", example.CHAIN),
    "C": ("speculation", example.TREE),
}


@dataclass
class Column:
    """One column: what decodes it (of `KINDS`), and the controls of a configuration."""

    letter: str
    kind: gr.Radio
    body: gr.Column
    controls: Controls
    notice_box: gr.HTML

    @property
    def named(self) -> dict[str, gr.components.Component]:
        """Its controls, by name; what decodes it comes first."""
        return {"decodes": self.kind, **self.controls.strategies}

    @property
    def outputs(self) -> list[object]:
        """The components that `judge` updates."""
        return [self.body, self.notice_box, *self.controls.strategies.values()]

    def config(self, kind: object, values: tuple[object, ...]) -> RunConfig:
        """What it runs.

        Args:
            kind: what decodes it.
            values: of the inputs of `controls`.

        Raises:
            ValueError: a sentence for the visitor.
        """
        if kind not in list(KINDS):
            names = " or ".join(KINDS.values())
            raise ValueError(f"{self.letter} must be {names}; got {str(kind)[:40]!r}.")
        if kind == "speculation":
            return self.controls.read(values)
        # what is hidden cannot be wrong
        hidden = [control.value for control in self.controls.strategies.values()]
        return self.controls.read((*values[: -len(hidden)], *hidden)).autoregressive()

    def judge(self, kind: object, values: tuple[object, ...]) -> tuple[bool, list[object]]:
        """Whether it can run, the prompt aside, and the updates of `outputs`: what is wrong, lossy
        or without effect, and menus marked for what is chosen."""
        word = text = ""
        marked: list[object] = [gr.skip() for _ in LABELS]
        try:
            config = self.config(kind, ("any", *values[1:]))
            if kind == "speculation":
                word, text = verdict(config)
                marked = mark(config)
        except ValueError as error:
            word, text = "error", str(error)
        note = sentence("", "") if word == "lossless" else sentence(word, text)
        updates = [gr.Column(visible=kind == "speculation"), note, *marked]
        return word not in ("impossible", "error"), updates


@dataclass
class Settings:
    """All that determines a comparison, as controls on the page; a link may set any of `inputs`."""

    prompt: gr.Textbox
    scalars: dict[str, gr.components.Component]
    columns: tuple[Column, ...]

    @property
    def named(self) -> dict[str, gr.components.Component]:
        """All controls by the name of their parameter in a link, such as "seed" or "a.builder"; the
        shared ones come first."""
        named = {"prompt": self.prompt, **self.scalars}
        for column in self.columns:
            prefix = column.letter.lower()
            for name, control in column.named.items():
                named[f"{prefix}.{name}"] = control
        return named

    @property
    def inputs(self) -> list[gr.components.Component]:
        """All controls."""
        return list(self.named.values())

    @property
    def outputs(self) -> list[object]:
        """The components that `judge` updates."""
        return list(chain.from_iterable(column.outputs for column in self.columns))

    def split(
        self, values: Sequence[object]
    ) -> Iterator[tuple[Column, object, tuple[object, ...]]]:
        """Of the values of `inputs`, each column with what decodes it and the values of its
        `controls.inputs`."""
        # Values come in one row, in the order of `named`.
        remaining = iter(values)
        shared = tuple(islice(remaining, 1 + len(self.scalars)))
        for column in self.columns:
            kind, *own = islice(remaining, len(column.named))
            yield column, kind, (*shared, *own)

    def judge(self, values: Sequence[object]) -> tuple[bool, list[object]]:
        """Whether every column can run, the prompt aside, and what each of `outputs` shows."""
        possible = True
        results: list[object] = []
        for column, kind, mine in self.split(values):
            fits, updates = column.judge(kind, mine)
            possible = possible and fits
            results += updates
        return possible, results

    def read(self, values: Sequence[object]) -> list[Entry]:
        """What the values of `inputs` ask to run.

        Raises:
            ValueError: a sentence for the visitor that names the column.
        """
        # Else a wrong prompt would be reported as a mistake of column A alone.
        first, _, mine = next(self.split(values))
        first.config("plain", mine)
        entries = []
        for column, kind, mine in self.split(values):
            try:
                config = column.config(kind, mine)
                compatible(config).required()
                entries.append(Entry(column.letter, config))
            except ValueError as error:
                raise ValueError(f"{column.letter}: {error}") from None
        return entries


def column(letter: str, prompt: gr.Textbox, scalars: dict[str, gr.components.Component]) -> Column:
    """Lay out the controls of a column, as they are in the recorded race."""
    choices = [(title, kind) for kind, title in KINDS.items()]
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
            scalars = scalar_controls(example.TREE)
        columns = tuple(column(letter, prompt, scalars) for letter in FIRST)
    settings = Settings(prompt, scalars, columns)
    opened = [control.value for control in settings.inputs]
    for side, kind, values in settings.split(opened):
        _, (_, side.notice_box.value, *_) = side.judge(kind, values)
    return settings
