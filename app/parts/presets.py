"""The presets of Explore: a chain, a tree and a large tree."""

from __future__ import annotations

from typing import Any

import gradio as gr

from specviz import RunConfig
from specviz.strategy import strategy_of

from .controls import Controls
from .web import QUIET

TREE = "Tree"
PRESETS = {"Chain": "chain:depth=5", TREE: "sequoia", "Large tree": "sequoia:size=64,depth=10"}


def connect(settings: Controls, preset: gr.Radio) -> None:
    """Let a menu of the presets set the tree."""

    def choose(name: Any) -> Any:
        text = PRESETS.get(name) if isinstance(name, str) else None
        return str(strategy_of("builder", text)) if text else gr.skip()

    preset.input(choose, preset, settings.strategies["builder"], **QUIET)


def preset_of(config: RunConfig) -> str | None:
    """The preset whose tree a configuration has; None where it is none of them."""
    return next((name for name, text in PRESETS.items() if config.builder == strategy_of("builder", text)), None)
