"""The card "Your engine's log": what a visitor's engine says of its speculation. It reads no file and no address."""

from __future__ import annotations

import gradio as gr

from specviz.files import asset

from ...machine.request_queue import apart
from ...parts.study_card import fold
from ...parts.uploads import MOST_LOG, read_log
from ...parts.web import starts


def card() -> None:
    """Lay it out, in a fold of its own."""
    with fold("log", "Your engine's log"):
        gr.HTML(
            html_template=asset("figures/log.html"),
            js_on_load=starts("log", most=MOST_LOG),
            server_functions=[apart(read_log)],
            elem_id="sv-log",
            apply_default_css=False,
        )
