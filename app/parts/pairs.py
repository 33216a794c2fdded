"""The menu of pairs."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.context import Context

MODELS = "sv-models"  # the class of every menu of pairs
FOLDERS = "To offer folders of this machine, set SPECVIZ_PAIRS."


def models_menu(engine: Any) -> gr.Dropdown:
    """The menu of pairs; a hub adds its own when it answers, and `own_pair` what a visitor loaded."""
    menu = gr.Dropdown(
        engine.titles, value=engine.titles[0], label="Model pair", filterable=False, elem_classes=MODELS,
        visible=len(engine.titles) > 1 or engine.other is not None,
    )  # fmt: skip
    menu.also = tuple(engine.hub.pairs) if engine.hub else ()  # which a link may name before the hub has answered
    if engine.hub is not None:

        def add_hub() -> Any:
            choices, info = offered(engine)
            return gr.Dropdown(choices=choices, info=info, visible=len(choices) > 1 or engine.other is not None)

        Context.root_block.load(add_hub, None, menu, queue=False, show_progress="hidden", api_visibility="private")
    return menu


def offered(engine: Any) -> tuple[list[tuple[str, str]], str]:
    """The pairs that everybody may choose now, (label, title), and a sentence on them."""
    listed, info = engine.hub.menu() if engine.hub is not None else ([], "")
    choices = [*((title, title) for title in engine.titles), *listed]
    return choices, f"{info} {FOLDERS}" if info and not listed and engine.other is None else info
