"""The menu of pairs."""

from __future__ import annotations

import asyncio
from typing import Any

import gradio as gr
from gradio.context import Context

from ..machine.models import ON_DISK, on_disk
from ..machine.server import local

MODELS = "sv-models"  # the class of every menu of pairs
FOLDERS = "To offer folders of this machine, set SPECVIZ_PAIRS."


def models_menu(engine: Any) -> gr.Dropdown:
    """The menu of pairs; a hub adds its own when it answers, and `own_pair` what a visitor
    loaded."""
    menu = gr.Dropdown(
        in_memory(engine),
        value=engine.titles[0],
        label="Model pair",
        filterable=False,
        elem_classes=MODELS,
        visible=len(in_memory(engine)) > 1 or engine.other is not None,
    )
    menu.accepts = lambda title: (
        title in engine.own or (engine.hub is not None and title in engine.hub.pairs)
    )
    if engine.hub is not None or local():

        async def add_choices() -> (
            Any
        ):  # not between two steps of a run: a hub may take seconds to answer
            choices, info = await asyncio.to_thread(offered, engine)
            return gr.Dropdown(
                choices=choices, info=info, visible=len(choices) > 1 or engine.other is not None
            )

        Context.root_block.load(
            add_choices, None, menu, queue=False, show_progress="hidden", api_visibility="private"
        )
    return menu


def in_memory(engine: Any) -> list[str]:
    """The titles of the menu: pairs whose weights are on disk are chosen by `weights_menu`."""
    return [title for title in engine.titles if not on_disk(title)]


def weights_menu(engine: Any, opening: str) -> gr.Radio:
    """Where the target's weights are during a run: "memory" or "disk"."""
    return gr.Radio(
        [("in memory", "memory"), ("on disk", "disk")],
        value=opening,
        label="Weights",
        elem_classes=["sv-choice", "sv-weights"],
        visible=any(map(on_disk, engine.titles)),
    )


def title_of(engine: Any, models: Any, weights: Any) -> Any:
    """The pair that both menus stand for, as they come from the browser; in memory where no other
    is offered."""
    title = models + ON_DISK if weights == "disk" and isinstance(models, str) else models
    return title if title in engine.titles else models


def offered(engine: Any) -> tuple[list[tuple[str, str]], str]:
    """The pairs that everybody may choose now, (label, title), and a sentence on them."""
    listed, info = engine.hub.menu() if engine.hub is not None else ([], "")
    own = [(name, title) for title, name in engine.own.items()]
    choices = [(title, title) for title in in_memory(engine)] + listed + own
    return choices, f"{info} {FOLDERS}" if info and not listed and engine.other is None else info
