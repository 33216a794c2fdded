"""A figure on the page, with its title, the sentence that says how to read it, what it is made of, and its numbers.

Templates are fixed and scripts write text nodes only, as on the stage. Figures are also made in a process that has no
page, so gradio is imported where components are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import plotly.graph_objects as go

from specviz.codec import dumps
from specviz.plots import PLOTS, theme
from specviz.plots.export import to_csv, to_json

from .web import starts

if TYPE_CHECKING:
    import gradio as gr

WORDS = (
    '<section class="sv-card"><h2></h2><span class="sv-source"></span><p class="sv-read"></p>'
    '<p class="sv-made"></p><p class="sv-files"></p></section>'
)
STATUS = (
    '<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span></p>'
    '<progress class="sv-progress" aria-label="progress" hidden></progress>'
)
HEIGHT = 460


class Source(NamedTuple):
    """Where the numbers of a figure come from: "recorded", "measured", "loaded" or "projection", and a short label."""

    kind: str
    label: str


class File(NamedTuple):
    """Something to download: the word on its button, its file name, and its text."""

    label: str
    name: str
    text: str


class Card:
    """A figure with its words.

    Args:
        name: of the figure, as in `specviz.plots.PLOTS`.
        value: what `fill` returned for it.
    """

    def __init__(self, name: str, value: tuple[str, go.Figure]) -> None:
        import gradio as gr

        with gr.Column(elem_classes="sv-figure", elem_id=f"sv-figure-{name}"):
            self.words = gr.HTML(value[0], html_template=WORDS, js_on_load=starts("card"), apply_default_css=False)
            self.plot = gr.Plot(value[1], show_label=False, container=False, elem_classes="sv-plot")

    @property
    def outputs(self) -> list[gr.components.Component]:
        """The components that `update` is for."""
        return [self.words, self.plot]

    def update(self, value: tuple[str, go.Figure]) -> dict[gr.components.Component, Any]:
        """What an event yields to show another value."""
        return dict(zip(self.outputs, value, strict=True))


def fill(name: str, info: Any, source: Source, made: str = "", files: Iterable[File] = ()) -> tuple[str, go.Figure]:
    """The words of a card as JSON, and its figure.

    Args:
        name: of the figure.
        info: its plain data, from the `info` of its module.
        source: where the data come from.
        made: a sentence on what is exact and what is counted.
        files: downloads besides the figure's own JSON and CSV.
    """
    module = PLOTS[name]
    figure = module.draw(info)
    title = (figure.layout.title.text or module.TITLE).replace("<br>", ", ")
    downloads = [
        *files,
        File("JSON", f"{name}.json", to_json(info)),
        File("CSV", f"{name}.csv", to_csv(figure)),
    ]
    words = {
        "title": title, "source": source, "read": module.HOW_TO_READ, "made": made,
        "files": downloads,
    }  # fmt: skip
    return harmless(words), fitted(figure, source.kind == "projection")


def fitted(figure: go.Figure, projection: bool) -> go.Figure:
    """The figure for a page: its title stands above it, and a projection says so on the figure itself."""
    figure.update_layout(
        title=None,
        height=HEIGHT,
        margin={"l": 56, "r": 16, "t": 24, "b": 48},
        legend={"font": {"size": 12}, "y": -0.26},
    )
    figure.update_xaxes(title={"standoff": 8, "font": {"size": 12}})
    figure.update_yaxes(title={"font": {"size": 12}})
    if projection:
        corner = figure.data[0].type == "heatmap"  # which is empty where few nodes cannot fill many levels
        figure.add_annotation(
            text="projection", xref="paper", yref="paper", x=0.78 if corner else 0.5, y=0.15 if corner else 0.55,
            showarrow=False, textangle=-18,
            font={"size": 54, "color": theme.GREY}, opacity=0.22,
        )  # fmt: skip
        figure.update_traces(line={"dash": "dash"}, selector={"type": "scatter", "mode": "lines+markers"})
    return figure


def intro(text: str) -> gr.HTML:
    """What a page of figures begins with, its terms explained on hover and focus."""
    import gradio as gr

    return gr.HTML(text, html_template='<p class="sv-intro"></p>', js_on_load=starts("intro"), apply_default_css=False)


def status(elem_id: str) -> gr.HTML:
    """A line that says what is going on; its value is what `said` writes."""
    import gradio as gr

    return gr.HTML(
        "",
        html_template=STATUS,
        js_on_load=starts("status"),
        apply_default_css=False,
        elem_id=elem_id,
        elem_classes="sv-status",
    )


def said(text: str, kind: str = "", done: int = 0, of: int = 0) -> str:
    """The value of a status line.

    Args:
        text: a sentence.
        kind: "error", or nothing.
        done, of: how far it is; no bar is shown where `of` is 0.
    """
    return harmless({"text": text, "kind": kind, "done": done, "of": of})


def harmless(data: Any) -> str:
    """JSON in which "<" is escaped, so that no layer between here and the page can mistake it for markup."""
    return dumps(data).replace("<", "\\u003c")
