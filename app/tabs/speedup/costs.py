"""The page "What a step costs": the time of a step by the size of its tree, on this machine or another."""

from __future__ import annotations

from typing import Any, NamedTuple

import gradio as gr

from ...machine.engine import Engine
from ...parts.card import Card, intro, status
from .cards import opening
from .timing import MACHINES

TITLE = "What a step costs"
INTRO = (
    "A step is one pass of the target over the whole tree, the draft passes that make the tree, and the verification. "
    "The relative time per step is its time over that of a plain step."
)
OPEN = ("cost",)


class Costs(NamedTuple):
    """The parts of the page, which `app.tabs.speedup` joins to the next one."""

    machine: gr.Radio
    numbers: list[gr.Slider]
    measure: gr.Button
    stop: gr.Button
    line: gr.HTML
    cards: dict[str, Card]
    here: gr.State

    @property
    def outputs(self) -> list[Any]:
        """What a measurement changes besides figures."""
        return [self.machine, self.here]


def build(engine: Engine) -> Costs:
    """Lay out the page."""
    here, first, _ = opening()
    with gr.Row(elem_classes="sv-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail sv-sticky"):
            machine = gr.Radio(list(MACHINES.items()), value="here", label="Machine", elem_id="sv-machine")
            with gr.Group(visible=False) as idealised:
                flat = gr.Slider(1, 1024, value=64, step=1, label="Constant up to",
                                 info="Number of nodes that cost as much as one.")  # fmt: skip
                draft = gr.Slider(0, 0.5, value=0.05, step=0.01, label="Draft pass", info="In passes of the target.")
            with gr.Row(elem_classes="sv-go"):
                measure = gr.Button("Measure this machine", variant="primary", elem_id="sv-measure")
                stop = gr.Button("Stop", interactive=False, elem_id="sv-measure-stop")
            line = status("sv-measure-status")
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            intro(INTRO)
            with gr.Row(elem_classes="sv-figures"):
                cards = {name: Card(name, first[name]) for name in OPEN}
    quiet: dict[str, Any] = {"queue": False, "show_progress": "hidden", "api_visibility": "private"}
    machine.change(lambda kind: gr.Group(visible=kind == "flat"), machine, idealised, **quiet)
    return Costs(machine, [flat, draft], measure, stop, line, cards, gr.State(here))
