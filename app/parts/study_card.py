"""The questions of a tab: a fold for each, drawn when it is opened, some with a study to run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from time import monotonic
from typing import Any

import gradio as gr

from specviz import DRAFTERS, RunConfig
from specviz.drafters.base import Drafter
from specviz.plots import PLOTS

from ..machine.engine import Engine
from . import recorded
from .card import Card, Source, fill, said, status
from .failures import explained
from .job import Job
from .study_list import STUDIES, studied

PACE = 1.5  # seconds between two drawings of a figure


def fold(name: str, question: str) -> gr.Accordion:
    """A closed fold; what is in it is put on the page when a visitor opens it."""
    return gr.Accordion(question, open=False, elem_id=f"sv-fold-{name}", elem_classes="sv-fold")


class StudyCard:
    """The recorded figure of a study, buttons to run and stop it, and a status line.

    Args:
        engine: where it is run.
        name: of the study.
        inputs: controls whose values `settings` turns into a configuration.
        settings: raises ValueError with a sentence for the visitor.
    """

    def __init__(self, engine: Engine, name: str, inputs: list, settings: Callable[..., RunConfig]) -> None:
        self.engine, self.study, self.settings = engine, STUDIES[name], settings
        with gr.Column(elem_classes="sv-study"):
            self.card = Card(name, opening_card(name))
            with gr.Row(elem_classes="sv-go"):
                go = gr.Button(self.study.label, size="sm", elem_id=f"sv-study-{name}")
                stop = gr.Button("Stop", size="sm", interactive=False, elem_id=f"sv-study-{name}-stop")
            self.line = status(f"sv-study-{name}-status")
        job = Job(stop, self.line, {self.line: said("Stopped. The figure shows the measurements so far.")})
        job.starts(go.click, self.run, inputs, [self.line, *self.card.outputs])

    def run(self, *values: Any) -> Iterator[dict]:
        """The study as an event: the line at every step, the figure a few times a minute, a sentence at the end."""
        shown = latest = None
        here, drawn = Source("measured", "measured here"), monotonic()
        failed = "The study failed. The figure keeps the earlier measurements."

        @explained(failed, lambda text: {self.line: said(text, "error")})
        def steps() -> Iterator[dict]:
            nonlocal shown, latest, drawn
            config = self.settings(*values)
            with self.engine.exclusive():
                for sentence in self.engine.loading():
                    yield {self.line: said(sentence)}
                for done, of, latest in self.engine.compute(studied, self.study.name, config):
                    updates = {self.line: said(f"{done} of {of} steps", done=done, of=of)}
                    if latest is not None and monotonic() - drawn > PACE:
                        updates |= self.card.update(filled(self.study.name, latest, here))
                        shown, drawn = latest, monotonic()
                    yield updates
            at = "" if self.study.name == "temperature" else f" at temperature {config.temperature:g}"
            yield {self.line: said(f"Measured{at}.")}

        yield from steps()
        if latest is not None and latest is not shown:
            yield self.card.update(filled(self.study.name, latest, here))


def filled(name: str, info: Any, source: Source) -> tuple:
    """The text and the figure of a study's card."""
    return fill(name, info, source, STUDIES[name].made)


@cache
def opening_card(name: str) -> tuple:
    """The initial content of a study's card, from the recorded files."""
    past = recorded.read()
    if name in past.studies:
        return filled(name, past.studies[name], Source("recorded", past.label))
    return filled(name, PLOTS[name].info({}), Source("recorded", "not recorded yet"))  # reads clocks: a quiet machine's


def figures(
    engine: Engine,
    first: dict[str, tuple],
    shown: tuple[str, ...],
    folds: tuple[tuple[str, str, tuple[str, ...]], ...],
    inputs: list,
    settings: Callable[..., RunConfig],
) -> dict[str, Card]:
    """The figures of a tab: those always in sight, then the others and the studies, in folds by question.

    Args:
        engine: where the studies are run.
        first: what each figure opens with, by name; one that is not there is a study, or has nothing to show.
        shown: names of the figures in sight.
        folds: name, question and figures of each fold.
        inputs, settings: as for the studies.

    Returns:
        The cards that the tab's own events fill, by name.
    """
    with gr.Row(elem_classes="sv-figures"):
        cards = {name: Card(name, first[name]) for name in shown}
    for name, question, inside in folds:
        with fold(name, question), gr.Row(elem_classes="sv-figures"):
            cards |= {one: Card(one, first[one]) for one in inside if one in first}
            for one in inside:
                if one in STUDIES:
                    StudyCard(engine, one, inputs, settings)
    return cards


def drafter_of(name: Any) -> Drafter:
    """The drafter that a menu names.

    Raises:
        ValueError: a sentence for the visitor.
    """
    if not isinstance(name, str) or name not in DRAFTERS:
        raise ValueError(f"Drafter must be one of {', '.join(DRAFTERS)}; got {str(name)[:40]!r}.")
    return DRAFTERS[name]()


def sampling(temperature: Any, top_p: Any = 1.0, drafter: Any = "model") -> RunConfig:
    """The configuration of a study from three controls.

    Raises:
        ValueError: a sentence for the visitor.
    """
    for label, value, low, high in (("Temperature", temperature, 0, 2), ("Top-p", top_p, 0.05, 1)):
        if type(value) not in (int, float) or not low <= value <= high:
            raise ValueError(f"{label} must be a number from {low} to {high}; got {str(value)[:40]}.")
    return RunConfig(temperature=float(temperature), top_p=float(top_p), seed=1, drafter=drafter_of(drafter))
