"""The controls of the tab Compare: what all runs share, and for each run its strategies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import gradio as gr

from specviz.config.run_config import RunConfig, compatible

from ..explore import verdict
from ..parts.controls import LABELS, Controls, engines_menu, mark, picker, scalar_controls
from ..parts.stage import notice, sentence
from . import example
from .entry import Entry

# The race that the tab opens with; A has the rule of the tree that may take its place.
FIRST = {
    "A": replace(example.TREE, builder="plain"),
    "B": example.CHAIN,
    "C": example.TREE,
}


class Column(NamedTuple):
    """A run: its controls, and what is said of them."""

    letter: str
    controls: Controls
    notice: gr.HTML


@dataclass
class Settings:
    """All that determines a comparison, as controls on the page; a link may set any of `named`."""

    shared: dict[str, gr.components.Component]
    columns: list[Column]

    @property
    def named(self) -> dict[str, gr.components.Component]:
        """All controls by the name of their parameter in a link, such as "seed" or "b.builder"; the
        shared ones come first."""
        named = dict(self.shared)
        for letter, controls, _ in self.columns:
            for kind, control in controls.strategies.items():
                named[f"{letter.lower()}.{kind}"] = control
        return named

    @property
    def outputs(self) -> list[object]:
        """The components that `judge` updates."""
        components: list[object] = []
        for _, controls, notice_box in self.columns:
            components += [notice_box, *controls.strategies.values()]
        return components

    def split(self, values: Sequence[object]) -> Iterator[tuple[Column, Sequence[object]]]:
        """Each column with the values of its `controls.inputs`, of the values of `named`."""
        first = len(self.shared)
        for place, column in enumerate(self.columns):
            own = first + place * len(LABELS)
            yield column, [*values[:first], *values[own : own + len(LABELS)]]

    def judge(self, values: Sequence[object]) -> tuple[bool, list[object]]:
        """Whether every run is possible, the prompt aside, and what each of `outputs` shows: what
        is wrong, lossy or without effect, and menus marked for what is chosen."""
        possible = True
        results: list[object] = []
        for column, mine in self.split(["any", *values[1:]]):
            marked: list[object] = [gr.skip() for _ in LABELS]
            try:
                config = column.controls.read(mine)
                marked = mark(config)
                word, text = verdict(with_its_rule(config))
            except ValueError as error:
                word, text = "error", str(error)
            if word == "lossless":
                word = text = ""
            elif word in ("impossible", "error"):
                possible = False
            results += [sentence(word, text), *marked]
        return possible, results

    def read(self, values: Sequence[object]) -> list[Entry]:
        """What the values of `named` ask to run.

        Raises:
            ValueError: a sentence for the visitor that names the column.
        """
        # Else a wrong prompt would be reported as a mistake of column A alone.
        controls = self.columns[0].controls
        recorded = [control.value for control in controls.strategies.values()]
        controls.read([*values[: len(self.shared)], *recorded])
        entries = []
        for column, mine in self.split(values):
            try:
                config = with_its_rule(column.controls.read(mine))
                compatible(config).required()
                entries.append(Entry(column.letter, config))
            except ValueError as error:
                raise ValueError(f"{column.letter}: {error}") from None
        return entries


def with_its_rule(config: RunConfig) -> RunConfig:
    """The same; plain decoding with the one rule that it can have."""
    if config.builder.autoregressive:
        return config.autoregressive()
    return config


def lay_out(prompt: gr.Textbox) -> Settings:
    """Lay out everything below the prompt, as it is in the recorded race."""
    columns = []
    with gr.Row(elem_classes="sv-sides"):
        with gr.Column(min_width=220):
            scalars = scalar_controls(example.TREE)
        for letter, config in FIRST.items():
            with gr.Column(elem_classes="sv-side", elem_id=f"sv-side-{letter}", min_width=220):
                pickers = {}
                for kind, title in LABELS.items():
                    pickers[kind] = picker(kind, config, f"{title} of {letter}", True)
                engines_menu(pickers, f" of {letter}")
                notice_box = notice("", elem_id=f"sv-side-{letter}-notice")
            columns.append(Column(letter, Controls(prompt, scalars, pickers, True), notice_box))
    return Settings({"prompt": prompt, **scalars}, columns)
