"""The menus of pairs and of where their weights are."""

from __future__ import annotations

import asyncio
import json

import gradio as gr

from ...service.fetching import Hub, may_fetch
from ...service.http.server import local
from ...service.pair_ref import PairRef
from ...service.service import RunService

MODELS = "sv-models"  # the class of every menu of pairs
FETCHED = "Well-known pairs are downloaded from the hub at their first run."
OWN = "own"
# Opens the form of own_pair.py, in the drawer of Explore; the menu then shows what it did before.
OPENS = """name => {
  const menu = document.querySelector('.sv-models');
  if (name !== 'own') return (menu.dataset.last = name);
  document.querySelector('[role=tab]').click();
  document.querySelector('#sv-settings-opener [aria-expanded=false]')?.click();
  setTimeout(() => document.querySelector('#sv-own .label-wrap:not(.open)')?.click(), 100);
  return menu.dataset.last ?? FIRST;
}"""


def models_menu(service: RunService, opening: PairRef) -> gr.Dropdown:
    """The menu of pairs; `connect` adds those of a hub and those that a visitor named."""
    pairs = service.pairs
    menu = gr.Dropdown(
        choices(service),
        value=opening.models,
        label="Model",
        filterable=False,
        elem_classes=[MODELS, "sv-menu-of-pairs"],
        visible=len(choices(service)) > 1,
    )
    if pairs.other is not None:
        opens = OPENS.replace("FIRST", json.dumps(opening.models))
        menu.input(None, menu, menu, js=opens, api_visibility="private")
    return menu


def choices(service: RunService) -> list[tuple[str, str]]:
    """The choices of the menu of pairs, label and name; the last opens the form for another."""
    own = [("Your own …", OWN)]
    if service.pairs.other is None:
        own = []
    return [*service.pairs.choices(), *own]


def weights_menu(service: RunService, opening: PairRef) -> gr.Radio:
    """Where the target's weights are during a run: "memory" or "disk"."""
    return gr.Radio(
        [("in memory", "memory"), ("on disk", "disk")],
        value=opening.weights,
        label="Weights",
        elem_classes=["sv-choice", "sv-weights"],
        visible=service.pairs.has_disk,
    )


def menus_of(demo: gr.Blocks) -> list[gr.Dropdown]:
    """Every menu of pairs on the page."""
    blocks = demo.blocks.values()
    return [block for block in blocks if MODELS in (getattr(block, "elem_classes", None) or ())]


def connect(demo: gr.Blocks, service: RunService) -> None:
    """Have the menus show, when a page opens, what a hub has and what was named here."""
    menus = menus_of(demo)
    hub = None
    if may_fetch():
        hub = Hub()
    if not menus or (hub is None and not local()):
        return

    # Nothing waits for it: a hub may take seconds to answer.
    async def add_choices() -> dict[gr.Dropdown, gr.Dropdown]:
        info = ""
        if hub is not None:
            offers = await asyncio.to_thread(hub.offers)
            service.pairs.add(offers)
            if offers:
                info = FETCHED
        listed = choices(service)
        menu = gr.Dropdown(choices=listed, info=info, visible=len(listed) > 1)
        return dict.fromkeys(menus, menu)

    demo.load(
        add_choices, None, menus, queue=False, show_progress="hidden", api_visibility="private"
    )
