"""The two components with their own drawing code: the stage (text, measures, tree) and a one-sentence notice.

Both have a fixed template: values never reach a template engine, only scripts that write text nodes.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz.files import asset

from ..machine import limits
from .run_store import save
from .web import dumps, starts

HEADLINE = '<h2 class="sv-headline"><em></em><span></span> <small></small></h2>'
NOTICE = (
    '<p class="sv-notice" role="status"><span class="mark"></span><span class="text"></span>'
    '<button type="button" class="sv-fix" hidden></button></p>'
)


def stage(value: str, elem_id: str) -> gr.HTML:
    """A run, step by step. Its value is one message as `payload.message` writes it; the page keeps the history."""
    return gr.HTML(
        value, html_template=asset("stage/stage.html"), js_on_load=starts("stage", most=limits.OPENED_BODY),
        server_functions=[save], elem_id=elem_id, apply_default_css=False,
    )  # fmt: skip


def notice(value: str, elem_id: str) -> gr.HTML:
    """One sentence with a mark for its kind; its value is what `sentence` writes."""
    return gr.HTML(value, html_template=NOTICE, js_on_load=starts("notice"), elem_id=elem_id, apply_default_css=False,
                   elem_classes="sv-ui sv-status")  # fmt: skip


def headline(elem_id: str) -> gr.HTML:
    """What the run on the stage shows, in one sentence that the stage writes."""
    return gr.HTML("", html_template=HEADLINE, js_on_load=starts("headline"), elem_id=elem_id, apply_default_css=False)


def opener(label: str, opens: str, elem_id: str) -> gr.HTML:
    """A button that shows and hides what has the elem_id `opens`, which stays on the page."""
    template = f'<button type="button" aria-expanded="false" aria-controls="{opens}">{label}</button>'
    return gr.HTML("", html_template=template, js_on_load=starts("opener"), elem_id=elem_id, apply_default_css=False,
                   elem_classes="sv-ui sv-opener")  # fmt: skip


def sentence(kind: str, text: str, **more: Any) -> str:
    """The value of a notice, whose kind is a verdict of `menus.kind` or "error"; `more` is for other parts of the page.

    "fix" has the label of a button and the link that it opens.
    """
    return dumps({"kind": kind, "text": text} | more)
