"""The presets of Explore: a chain, a tree and a large tree; and the fastest tree on this machine, once measured."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import gradio as gr
from gradio.context import Context

from specviz import BUILDERS, RunConfig
from specviz.strategy import strategy_of

from ..machine.engine import Engine
from .controls import Controls
from .stage import sentence

WAIT = 60.0  # seconds that a page waits for a measurement that is under way
WAITING = 20  # pages that may do so at once
TREE = "Tree"
PRESETS = {"Chain": "chain:depth=5", TREE: "sequoia", "Large tree": "sequoia:size=64,depth=10"}
UNKNOWN = "The fastest tree is not known yet: run this pair once, and wait until this machine is measured."
OTHERS = "The fastest tree is only known for the draft model; set the drafter to it."


def menu() -> gr.Radio:
    """The presets as one row of buttons."""
    return gr.Radio(list(PRESETS), value=TREE, label="Tree", elem_id="sv-preset", elem_classes="sv-choice")


def fastest_button() -> gr.Button:
    """A button that sets the fastest tree."""
    return gr.Button("Use the fastest tree on this machine", size="sm", elem_id="sv-fastest")


def connect(
    engine: Engine, settings: Controls, models: gr.Dropdown, preset: gr.Radio, fastest: gr.Button, notice: Any, run: Any
) -> None:
    """Let presets and the button set the tree, and measure the machine for the fastest one.

    Args:
        engine: knows the fastest tree.
        settings: the controls of the tab.
        models: its menu of pairs.
        preset, fastest: what `menu` and `fastest_button` made.
        notice: where a sentence goes.
        run: the event of a run, which loads a pair whose speed can then be measured.
    """
    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    builder = settings.strategies["builder"]

    def choose(name: Any) -> Any:
        text = PRESETS.get(name) if isinstance(name, str) else None
        return str(strategy_of("builder", text)) if text else gr.skip()

    def choose_fastest(title: Any, *values: Any) -> list[Any]:
        try:
            tree, text = fastest_tree(engine, title, settings.read(("any", *values[1:])))
        except ValueError as error:
            return [sentence("error", str(error)), gr.skip()]
        return [sentence("preset", text), str(tree)]

    preset.input(choose, preset, builder, preprocess=False, queue=False, **quiet)
    inputs = [models, *settings.inputs]
    fastest.click(choose_fastest, inputs, [notice, builder], preprocess=False, queue=False, **quiet)
    if engine.best.on:
        waiting = dict(concurrency_limit=WAITING, concurrency_id="measured", **quiet)
        Context.root_block.load(partial(opened, engine), None, None, **waiting)
        run.then(partial(after, engine), models, None, preprocess=False, **waiting)


async def opened(engine: Engine) -> None:
    """On opening a page: measure the first pair if it was never measured, and wait for the result."""
    engine.best.start(engine.titles[0])
    await engine.best.wait(engine.titles[0], WAIT)


async def after(engine: Engine, title: Any) -> None:
    """After a run: measure its pair if it is loaded and was never measured, and wait for the result."""
    if engine.holds(title):
        engine.best.start(title)
        await engine.best.wait(title, WAIT)


def fastest_tree(engine: Engine, title: Any, config: RunConfig) -> tuple[Any, str]:
    """The fastest of Sequoia's trees on this machine for the rule and temperature of a configuration, and a sentence.

    Raises:
        ValueError: if it is not known.
    """
    if config.drafter.name != "model":
        raise ValueError(OTHERS)
    known = isinstance(title, str) and math.isfinite(config.temperature)
    cell = engine.best.tree(title, config.verifier.name, config.temperature) if known else None
    if cell is None:
        raise ValueError(UNKNOWN)
    shape, gain = f"{cell.size} nodes, {cell.depth} levels", f"{cell.speedup:.2f}× plain decoding"
    text = f"The fastest tree on this machine: {shape}; predicted {gain}."
    return BUILDERS["sequoia"](size=cell.size, depth=cell.depth), text


def preset_of(config: RunConfig) -> str | None:
    """The preset whose tree a configuration has; None where it is none of them."""
    return next((name for name, text in PRESETS.items() if config.builder == strategy_of("builder", text)), None)
