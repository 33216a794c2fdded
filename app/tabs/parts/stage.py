"""The parts of Explore and Compare that scripts draw: the stage (text, measures, tree), notices,
and openers."""

from __future__ import annotations

import gradio as gr

from specviz.view.payload import page_json
from specviz.view.web import asset

from ...service import limits
from ...service.service import RunService
from .qr import qr_code
from .saving import saver, server_function
from .web import component

NOTICE = (
    '<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span>'
    '<button type="button" class="sv-fix" hidden></button></p>'
)


def stage(service: RunService, value: str) -> gr.HTML:
    """A run, step by step. Its value is one message as `payload.message` writes it; the page keeps
    the history."""
    return component(
        "stage",
        asset("stage/stage.html"),
        value,
        {"most": limits.OPENED_BODY},
        server_functions=[saver(service), server_function(service, qr_code)],
        elem_id="sv-stage",
    )


def notice(value: str, elem_id: str) -> gr.HTML:
    """One sentence with a mark for its kind; its value is what `sentence` writes."""
    return component("notice", NOTICE, value, elem_id=elem_id, elem_classes="sv-ui sv-status")


def opener(label: str, opens: str, elem_id: str) -> gr.HTML:
    """A button that shows and hides what has the elem_id `opens`, which stays on the page."""
    template = (
        f'<button type="button" aria-expanded="false" aria-controls="{opens}">{label}</button>'
    )
    return component("opener", template, elem_id=elem_id, elem_classes="sv-ui sv-opener")


def ask(prompt: str, name: str) -> tuple[gr.Textbox, gr.Button, gr.Button]:
    """The prompt with Run and Stop; their elem_ids begin with `name`."""
    box = gr.Textbox(
        prompt,
        label="Prompt",
        lines=1,
        max_lines=4,
        show_label=False,
        container=False,
        elem_id=f"{name}-prompt",
    )
    go = gr.Button("Run", variant="primary", min_width=120, scale=0, elem_id=f"{name}-run")
    return (
        box,
        go,
        gr.Button("Stop", interactive=False, min_width=80, scale=0, elem_id=f"{name}-stop"),
    )


def sentence(kind: str, text: str, **more: object) -> str:
    """The value of a notice, whose kind is a verdict of `menus.kind` or "error"; `more` is for
    other parts of the page.

    "fix" has the label of a button and the link that it opens.
    """
    return page_json({"kind": kind, "text": text} | more)
