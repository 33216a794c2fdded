"""The tab "Compare": two or three configurations on the same prompt and seed, decoded in turn and replayed together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from specviz.files import asset
from specviz.player.payload import message

from ...machine.engine import Engine
from ...parts import links
from ...parts.card import said, status
from ...parts.failures import explained
from ...parts.frame import Tab
from ...parts.job import Job
from ...parts.pairs import models_menu
from ...parts.web import QUIET, starts
from ..explore import chips
from .runs import RACE_PROMPT, play, recorded
from .settings import Settings, lay_out

TITLE = "Compare"


def build(engine: Engine) -> Settings:
    """Lay out the tab and connect it; returns its controls, for links and other tabs to set."""
    with gr.Row(elem_classes="sv-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail"):
            prompt = gr.Textbox(RACE_PROMPT, label="Prompt", lines=2, max_lines=6, elem_id="sv-compare-prompt")
            chips(prompt)
            with gr.Row(elem_classes="sv-go"):
                go = gr.Button("Run all", variant="primary", elem_id="sv-compare-run")
                stop = gr.Button("Stop", interactive=False, elem_id="sv-compare-stop")
            line = status("sv-compare-status")
            link = links.bar(TITLE, elem_id="sv-compare-link")
            models = models_menu(engine)
            chosen = lay_out(prompt)
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            board = gr.HTML(
                "", html_template=asset("compare/compare.html"), js_on_load=starts("compare"),
                server_functions=[recorded], elem_id="sv-compare", apply_default_css=False,
            )  # fmt: skip
    links.connect(link, links.Together({"models": models}, {"": chosen}), [go.click, prompt.submit])
    gr.on(
        [control.change for control in chosen.inputs[1:]],
        lambda *values: [gr.Button(interactive=chosen.possible(values)), *chosen.updates(values)],
        chosen.inputs, [go, *chosen.outputs], trigger_mode="always_last", **QUIET,
    )  # fmt: skip
    events(engine, chosen, models, go, stop, line, board)
    return chosen


def events(engine: Engine, chosen: Settings, models, go, stop, line, board) -> None:
    """Every event of a run."""

    def end(text: str) -> dict:
        return {line: said(text, "error"), board: message("", state="done")}

    @explained("The comparison failed. The earlier results are unchanged.", end, chosen.with_labels)
    def run(title: Any, *values: Any) -> Iterator[dict]:
        yield {line: said("")}
        for value in play(engine, chosen.read(values), title):
            yield {board: value}

    job = Job(stop, line, {board: message("", state="stopped")})
    job.starts([go.click, chosen.prompt.submit], run, [models, *chosen.inputs], [board, line])


TAB = Tab(TITLE, build, styles=("compare/compare",))
