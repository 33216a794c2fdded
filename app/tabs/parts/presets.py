"""The choices of Explore that are recorded: a chain, a tree or a large tree, at three
temperatures."""

from __future__ import annotations

import gradio as gr

from specviz.builders import BUILDERS
from specviz.config.run_config import RunConfig
from specviz.view.payload import page_json

from .controls import Controls

TREE = "Tree"
PRESETS = {
    "Chain": BUILDERS["chain"](depth=5),
    TREE: BUILDERS["sequoia"](),
    "Large tree": BUILDERS["sequoia"](size=64, depth=10),
}
TEMPERATURES = (0.0, 0.6, 1.0)


def lay_out(opened: RunConfig) -> list[gr.Radio]:
    """The menus of the trees and of the temperatures, which show those of a configuration."""
    tree, temperature = chosen(opened)
    numbers = [(f"{value:g}", value) for value in TEMPERATURES]
    return [
        gr.Radio(
            list(PRESETS), value=tree, label="Tree", elem_id="sv-preset", elem_classes="sv-choice"
        ),
        gr.Radio(
            numbers,
            value=temperature,
            label="Temperature",
            elem_id="sv-temperature",
            elem_classes="sv-choice",
        ),
    ]


def connect(settings: Controls, menus: list[gr.Radio]) -> None:
    """Let the menus set the tree and the temperature, in the browser: no request is made."""
    tree, temperature = menus
    builders = page_json({name: str(builder) for name, builder in PRESETS.items()})
    tree.input(
        None,
        tree,
        settings.strategies["builder"],
        js=f"name => ({builders})[name]",
        api_visibility="private",
    )
    number = settings.scalars["temperature"]
    temperature.input(None, temperature, number, js="value => value", api_visibility="private")


def chosen(config: RunConfig) -> list[object]:
    """What the menus show of a configuration: its preset and its temperature, None for one that is
    not offered."""
    tree = next((name for name, builder in PRESETS.items() if config.builder == builder), None)
    return [tree, config.temperature if config.temperature in TEMPERATURES else None]
