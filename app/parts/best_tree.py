"""The default tree of Live: the best one on this machine, until a visitor chooses another."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from typing import Any

import gradio as gr
from gradio.context import Context

from specviz import BUILDERS

from ..machine.engine import Engine
from .controls import Controls

WAIT = 60.0  # seconds that a page waits for a measurement that is under way
WAITING = 20  # pages that may do so at once
NAMES = ("size", "depth")
# A link that says which tree it is about keeps it; in the browser, so that nothing else comes before.
LINKED = "chosen => [['size', 'depth'].some(name => new URLSearchParams(location.search).has(name)) ? null : chosen]"
FIELDS = {f.name: f for f in fields(BUILDERS["sequoia"])}


def connect(engine: Engine, settings: Controls, models: gr.Dropdown, running: Any) -> None:
    """Set the size and depth of Sequoia's tree to the best values, now or as soon as they are known.

    Args:
        engine: knows them.
        settings: the controls of the tab.
        models: its menu of pairs.
        running: the event of a run, which loads a pair whose speed can then be measured. Nothing may wait for that at
            the same click: gradio's page sends the events of one click one after the other, each when the last is over.
    """
    parameters = dict(zip(FIELDS, settings.builder.parameters["sequoia"], strict=True))
    size, depth = (parameters[name] for name in NAMES)
    verifier, drafter = settings.verifier.menu, settings.drafter.menu
    temperature = settings.scalars["temperature"]
    cell = engine.best.tree(engine.titles[0], verifier.value, temperature.value)
    if cell is not None:
        size.value, depth.value, size.info = cell.size, cell.depth, hint(cell.size, True)
    # What was set here last; None where a link brought its own. Events without preprocessing are given no `gr.State`.
    chosen = gr.JSON([size.value, depth.value], visible=False)
    quiet = {"show_progress": "hidden", "api_visibility": "private"}
    look = dict(
        inputs=[models, verifier, temperature, drafter, size, depth, chosen],
        outputs=[size, depth, chosen],
        preprocess=False,
    )

    def set_tree(title: Any, rule: Any, heat: Any, who: Any, *now: Any) -> list[Any]:
        return choose(engine, title, rule, heat, now[:2], now[2], who)

    # `gr.on` lists the changes that matter; a size that is set here changes nothing but what is said of it.
    changes = [control.change for control in (models, verifier, temperature, drafter, size, depth)]
    gr.on(changes, set_tree, **look, queue=False, trigger_mode="always_last", **quiet)
    if engine.best.on:
        waiting = dict(concurrency_limit=WAITING, concurrency_id="measured", **quiet)
        Context.root_block.load(None, chosen, chosen, js=LINKED, api_visibility="private")
        came = Context.root_block.load(partial(opened, engine), None, None, **waiting)
        ran = running.then(partial(after, engine), models, None, preprocess=False, **waiting)
        for event in (came, ran):
            event.then(set_tree, **look, queue=False, **quiet)


async def opened(engine: Engine) -> None:
    """On opening a page: measure the first pair if it was never measured, and wait for the result."""
    engine.best.start(engine.titles[0])
    await engine.best.wait(engine.titles[0], WAIT)


async def after(engine: Engine, title: Any) -> None:
    """After a run: measure its pair if it is loaded and was never measured, and wait for the result."""
    if engine.holds(title):
        engine.best.start(title)
        await engine.best.wait(title, WAIT)


def choose(
    engine: Engine, title: Any, verifier: Any, temperature: Any, now: Sequence[Any], chosen: Any, drafter: Any = "model"
) -> list[Any]:
    """Updates of size, depth and what was chosen last; a tree that a visitor chose stays as it is.

    Args:
        title, verifier, temperature: as the controls hold them.
        now: size and depth, likewise.
        chosen: size and depth as they were set here last.
        drafter: the drafter; the best tree is only known for the draft model.
    """
    number = isinstance(temperature, int | float) and math.isfinite(temperature) and temperature >= 0
    known = number and isinstance(title, str) and drafter == "model"
    cell = engine.best.tree(title, verifier, temperature) if known else None
    if cell is None:
        said, usual = gr.update(info=FIELDS["size"].metadata["help"]), [FIELDS[name].default for name in NAMES]
        if list(now) != chosen or chosen == usual:
            return [said, gr.skip(), gr.skip()]
        return [said | {"value": usual[0]}, gr.update(value=usual[1]), usual]  # the best of another pair or drafter
    best = [cell.size, cell.depth]
    if list(now) == chosen and list(now) != best:
        return [gr.update(value=cell.size, info=hint(cell.size, True)), gr.update(value=cell.depth), best]
    return [gr.update(info=hint(cell.size, list(now) == best)), gr.skip(), gr.skip()]


def hint(size: int, taken: bool) -> str:
    """The help text of the number of nodes."""
    return f"{size} nodes, chosen for this machine." if taken else f"{size} nodes are the best size on this machine."
