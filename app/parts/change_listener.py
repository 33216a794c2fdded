"""Hears what a visitor turns among many controls, by one event instead of one for each of them.

While a page opens, gradio looks through the targets of all events for every component, so an event for each of two
hundred parameters that hardly anybody turns costs every visitor a good part of a second.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from .web import starts


def listener(besides: str) -> gr.HTML:
    """An unseen component that hears the rail it is laid out in; see `turned`.

    Args:
        besides: elem_id of what it does not listen to, such as the prompt.
    """
    return gr.HTML("", js_on_load=starts("ear", besides=besides), apply_default_css=False, visible="hidden")


def turned(
    heard: gr.HTML, opened: gr.events.Dependency, look: Callable, inputs: Sequence[Any], outputs: Sequence[Any]
) -> None:
    """Look at controls whenever any of them changes.

    Args:
        heard: what `ear` made, in the rail of the controls.
        opened: the event of a link, which sets controls without a visitor; see `app.parts.links.connect`.
        look: takes the values of `inputs` as the browser sends them and returns what `outputs` become.
        inputs: the controls. A menu itself says that it changed: choosing there is no event of the browser's.
        outputs: what shows the answer.
    """
    quiet = {"queue": False, "show_progress": "hidden", "api_visibility": "private", "preprocess": False}
    menus = [control.change for control in inputs if isinstance(control, gr.Dropdown)]
    gr.on([heard.input, *menus], look, inputs, outputs, trigger_mode="always_last", **quiet)
    opened.then(look, inputs, outputs, **quiet)
