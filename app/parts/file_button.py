"""A button that reads a small file in the browser; its value is the text, so the server stores no file."""

from __future__ import annotations

from html import escape

import gradio as gr

from .web import starts

MAX_BYTES = 60_000  # so that it fits into a request


def file_button(label: str, elem_id: str) -> gr.HTML:
    """The button; its event `upload` brings the text of the file that was chosen, at most `MAX_BYTES` long.

    Args:
        label: on the button.
        elem_id: its own.
    """
    template = f'<button type="button">{escape(label)}</button><input type="file" accept=".json" hidden>'
    script = starts("file", max=MAX_BYTES)
    return gr.HTML("", html_template=template, js_on_load=script, elem_id=elem_id, apply_default_css=False)
