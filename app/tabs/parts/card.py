"""A figure on the page with its words, and a status line. Scripts write text nodes only."""

from __future__ import annotations

from typing import NamedTuple

import gradio as gr
import plotly.graph_objects as go

from specviz.view.export import to_csv
from specviz.view.payload import page_json

from .web import component

WORDS = (
    '<section class="sv-card"><h2></h2><p class="sv-answer"></p>'
    '<p class="sv-source sv-small"></p><p class="sv-read sv-ui sv-not-presented"></p></section>'
)
STATUS = (
    '<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span></p>'
    '<progress class="sv-progress" aria-label="progress" hidden></progress>'
)


class Content(NamedTuple):
    """What a card shows.

    Args:
        answer: to its question, in one sentence.
        figure: from `specviz.view.figures`.
        source: where its numbers come from, in words.
    """

    answer: str
    figure: go.Figure
    source: str


class Card:
    """A figure with the question that it answers, the answer, and how to read it; `name` is that of
    its element and files."""

    def __init__(self, name: str, question: str, explanation: str, content: Content) -> None:
        self.name = name
        self.question = question
        self.explanation = explanation
        words, plot = self._values(content)
        with gr.Column(elem_classes="sv-figure", elem_id=f"sv-figure-{name}"):
            self.words = component("card", WORDS, words)
            self.plot = gr.Plot(plot, show_label=False, container=False, elem_classes="sv-plot")
        self.outputs = [self.words, self.plot]  # what `fill` changes

    def fill(self, content: Content) -> dict[gr.components.Component, object]:
        """What an event returns to show another figure."""
        return dict(zip(self.outputs, self._values(content), strict=True))

    def _values(self, content: Content) -> tuple[str, go.Figure]:
        figure = content.figure
        words = {
            "title": self.question,
            "source": content.source,
            # What is drawn, as numbers: a figure that one cannot check is a claim.
            "table": to_csv(figure),
            "file": f"{self.name}.csv",
            "answer": content.answer,
            "read": self.explanation,
        }
        # The card has the title; the legend stands below, or it would cover the figure on a phone.
        figure.update_layout(
            title=None, height=300, margin={"l": 56, "t": 34, "b": 52}, legend={"y": -0.26}
        )
        return page_json(words), figure


def status(elem_id: str, text: str = "") -> gr.HTML:
    """A status line that begins with `text`; its value is what `status_text` writes."""
    return component("status", STATUS, status_text(text), elem_id=elem_id, elem_classes="sv-status")


def status_text(text: str, kind: str = "", done: int = 0, of: int = 0) -> str:
    """The value of a status line; its kind is "error" or nothing, and without `of` it has no
    progress bar."""
    return page_json({"text": text, "kind": kind, "done": done, "of": of})
