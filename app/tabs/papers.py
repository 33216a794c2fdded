"""The tab "Papers": a table of claims for each source, rendered on the server."""

from __future__ import annotations

from functools import cache
from typing import Any

import gradio as gr
from jinja2 import Environment

from specviz import papers
from specviz.view.web import asset

from ..parts.frame import Page, Tab
from ..parts.web import QUIET

ALL = "all"
MARKS = {
    "reproduced": "✓",
    "holds by proof": "∎",
    "undecided": "?",
    "differs": "≠",
    "not available here": "–",
}
TITLES = [(source.short, name) for name, source in papers.SOURCES.items()]


def build(service: Any) -> tuple[gr.Radio, gr.HTML]:
    """Lay out the tab; returns the menu of sources and the table."""
    with gr.Row():
        source = gr.Radio(TITLES, value=TITLES[0][1], label="Source", elem_id="sv-papers-source")
        verdict = gr.Radio([ALL, *MARKS], value=ALL, label="Verdict", elem_id="sv-papers-verdict")
    table = gr.HTML(render(TITLES[0][1], ALL), elem_id="sv-papers")
    quiet = QUIET
    source.input(lambda name: (ALL, render(name, ALL)), source, [verdict, table], **quiet)
    verdict.input(render, [source, verdict], table, **quiet)
    return source, table


def connect(page: Page) -> None:
    """Open the source and mark the entry that an address such as ?paper=sequoia&entry=table-8
    names."""

    def open_link(request: gr.Request) -> tuple[Any, Any]:
        name = request.query_params.get("paper", "")
        if name not in papers.SOURCES:
            return gr.skip(), gr.skip()
        return name, render(name, ALL, request.query_params.get("entry", ""))

    page.demo.load(
        open_link,
        None,
        list(page.built["Papers"]),
        show_progress="hidden",
        api_visibility="private",
    )


def render(source: Any, verdict: Any, entry: str = "") -> str:
    """The table of one source as HTML, every text escaped; an unknown name shows the first source.

    Args:
        source: its name.
        verdict: which claims are listed, `ALL` or one of `MARKS`.
        entry: name of the entry that is marked.
    """
    source = source if str(source) in papers.SOURCES else TITLES[0][1]
    every = papers.table(source)
    rows = [row for row in every if str(verdict) not in MARKS or row.verdict == verdict]
    return _template().render(
        source=papers.SOURCES[source], rows=rows, total=len(every), marks=MARKS, entry=entry
    )


@cache
def _template() -> Any:
    return Environment(autoescape=True).from_string(asset("papers/papers.html"))


TAB = Tab("Papers", build, styles=("papers/papers",), connect=connect)
