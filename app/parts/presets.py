"""The presets of Explore: a chain, a tree, a large tree, and the fastest tree on this machine."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import gradio as gr
from gradio.context import Context

from specviz import BUILDERS, RunConfig
from specviz.planning.forecast import Cell
from specviz.strategy import parse_strategy

from ..machine.engine import Engine
from .controls import Controls
from .stage import sentence

WAIT = 60.0  # seconds that a page waits for a measurement that is under way
WAITING = 20  # pages that may do so at once
LEAST = 12  # nodes of a tree that is worth looking at
TREE, FASTEST = "Tree", "Fastest here"
PRESETS = {"Chain": "chain:depth=5", TREE: "sequoia", "Large tree": "sequoia:size=64,depth=10", FASTEST: None}
UNKNOWN = "The fastest tree is not known yet: run this pair once, and wait until this machine is measured."
OTHERS = "The fastest tree is only known for the draft model; set the drafter to it."


def menu() -> gr.Radio:
    """The presets as one row of buttons."""
    return gr.Radio(list(PRESETS), value=TREE, label="Preset", elem_id="sv-preset")


def connect(engine: Engine, settings: Controls, models: gr.Dropdown, preset: gr.Radio, said: Any, running: Any) -> None:
    """Let presets set the tree, and measure the machine for the fastest one.

    Args:
        engine: knows the fastest tree.
        settings: the controls of the tab.
        models: its menu of pairs.
        preset: what `menu` made.
        said: the notice.
        running: the event of a run, which loads a pair whose speed can then be measured. Nothing may wait for that at
            the same click: gradio's page sends the events of one click one after the other, each when the last is over.
    """
    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    builder = settings.strategies["builder"]

    def choose(name: Any, title: Any, *values: Any) -> list[Any]:
        was = None
        try:
            config = settings.read(("any", *values[1:]))
            was = preset_of(engine, title, config, name)
            tree, text = tree_of(engine, name, title, config)
        except ValueError as error:
            return [sentence("error", str(error)), gr.Radio(value=was), gr.skip()]
        return [sentence("preset", text) if text else gr.skip(), gr.skip(), str(tree)]

    inputs = [preset, models, *settings.inputs]
    preset.input(choose, inputs, [said, preset, builder], preprocess=False, queue=False, **quiet)
    if engine.best.on:
        waiting = dict(concurrency_limit=WAITING, concurrency_id="measured", **quiet)
        Context.root_block.load(partial(opened, engine), None, None, **waiting)
        running.then(partial(after, engine), models, None, preprocess=False, **waiting)


async def opened(engine: Engine) -> None:
    """On opening a page: measure the first pair if it was never measured, and wait for the result."""
    engine.best.start(engine.titles[0])
    await engine.best.wait(engine.titles[0], WAIT)


async def after(engine: Engine, title: Any) -> None:
    """After a run: measure its pair if it is loaded and was never measured, and wait for the result."""
    if engine.holds(title):
        engine.best.start(title)
        await engine.best.wait(title, WAIT)


def tree_of(engine: Engine, name: Any, title: Any, config: RunConfig) -> tuple[Any, str]:
    """The tree of a preset, and a sentence on it where it was chosen for this machine.

    Args:
        engine: knows the fastest tree.
        name: of the preset.
        title: of the pair.
        config: what the controls hold; its rule, temperature and drafter decide what is fastest.

    Raises:
        ValueError: if there is no such preset, or the fastest tree is not known.
    """
    if not isinstance(name, str) or name not in PRESETS:
        raise ValueError(f"Preset must be one of {', '.join(PRESETS)}; got {str(name)[:40]!r}.")
    fixed = PRESETS[name]
    cell = fastest(engine, title, config, LEAST if name == TREE else 2) if name in (TREE, FASTEST) else None
    if cell is not None:
        least = f" with at least {LEAST} nodes" if name == TREE else ""
        text = (
            f"The fastest tree{least} on this machine: {cell.size} nodes, {cell.depth} levels; "
            f"predicted {cell.speedup:.2f}× plain decoding."
        )
        return BUILDERS["sequoia"](size=cell.size, depth=cell.depth), text
    if fixed is None:
        raise ValueError(UNKNOWN if config.drafter.name == "model" else OTHERS)
    return parse_strategy("builder", fixed), ""


def remark(engine: Engine, name: str | None, title: Any, config: RunConfig) -> str:
    """The sentence on the tree of a configuration, where a preset chose it for this machine."""
    if name not in (TREE, FASTEST) or fastest(engine, title, config, 2) is None:
        return ""
    tree, text = tree_of(engine, name, title, config)
    return text if tree == config.builder else ""


def fastest(engine: Engine, title: Any, config: RunConfig, least: int) -> Cell | None:
    """The fastest of Sequoia's trees on this machine, where it is known.

    Args:
        engine, title, config: as for `tree_of`.
        least: nodes that it must have.
    """
    if not isinstance(title, str) or config.drafter.name != "model" or not math.isfinite(config.temperature):
        return None
    return engine.best.tree(title, config.verifier.name, config.temperature, least)


def preset_of(engine: Engine, title: Any, config: RunConfig, now: Any) -> str | None:
    """The preset whose tree a configuration has, the one that is chosen now first; None where it is none of them."""
    for name in sorted(PRESETS, key=lambda one: one != now):
        fixed = PRESETS[name]
        if fixed and config.builder == parse_strategy("builder", fixed):
            return name
        if name in (TREE, FASTEST):
            cell = fastest(engine, title, config, LEAST if name == TREE else 2)
            if cell and config.builder == BUILDERS["sequoia"](size=cell.size, depth=cell.depth):
                return name
    return None
