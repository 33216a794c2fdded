"""The tab "Compare": a recorded race at true speed, and two or three runs of one's own on the same
prompt and seed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace

import gradio as gr

from specviz.view.offline import comparison_page
from specviz.view.payload import message
from specviz.view.web import asset

from ...service.failures import explain
from ...service.service import RunService
from ..explore.messages import page_message
from ..parts import links
from ..parts.card import status, status_text
from ..parts.frame import Tab
from ..parts.job import Job, streamed
from ..parts.pairs import models_menu, weights_menu
from ..parts.stage import ask, opener
from ..parts.web import QUIET, component
from . import example
from .messages import compare_runs
from .settings import lay_out

TITLE = "Compare"


def recorded(_: object) -> str:
    """The race that the tab opens with; a page's call brings one argument, which may be
    anything."""
    return example.opening()


def page_around(_: object) -> str:
    """The page that plays a comparison offline, for the browser to fill."""
    return comparison_page()


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    opening = replace(service.pairs.first, weights="disk")
    with gr.Column(elem_classes="sv-explore sv-compare-page"):
        with gr.Row(elem_classes="sv-ask sv-not-presented"):
            prompt, go, stop = ask(example.PROMPT, "sv-compare")
        with gr.Row(elem_classes="sv-opts sv-not-presented"):
            weights = weights_menu(service, opening)
            line = status("sv-compare-status")
            opener("Choose runs", opens="sv-compare-settings", elem_id="sv-compare-opener")
        with gr.Column(elem_id="sv-compare-settings", elem_classes="sv-fold sv-not-presented"):
            models = models_menu(service, opening)
            chosen = lay_out(prompt)
        named = {"models": models, "weights": weights, **chosen.named}
        links.opened(service, TITLE, named)
        controls = list(named.values())
        board = component(
            "compare",
            asset("compare/compare.html"),
            settings=controls_text(named, [control.value for control in controls]),
            server_functions=[recorded, page_around],
            elem_id="sv-compare",
        )

    def typed(*values: object) -> gr.HTML:
        return gr.HTML(settings=controls_text(named, values))

    def check(*values: object) -> list[object]:
        # Menus of pair and weights come first; a column knows nothing of them.
        possible, updates = chosen.judge(values[2:])
        return [gr.Button(interactive=possible), typed(*values), *updates]

    prompt.change(typed, controls, board, trigger_mode="always_last", **QUIET)
    gr.on(
        [control.change for control in controls if control is not prompt],
        check,
        controls,
        [go, board, *chosen.outputs],
        trigger_mode="always_last",
        **QUIET,
    )

    async def run(
        request: gr.Request, models: object, weights: object, *values: object
    ) -> AsyncIterator[dict]:
        try:
            entries = tuple(chosen.read(values))
            ref = service.pairs.find(models, weights)
            # The results before stay on the page until the service has begun this comparison.
            starts = message("", state="loading", note="Starting.")
            yield {line: status_text(""), board: starts}
            settings = controls_text(named, [models, weights, *values])
            prompts = [entry.config.prompt for entry in entries]
            runs = streamed(service, request, ref, compare_runs, entries, settings, prompts=prompts)
            async with runs as items:
                async for item in items:
                    yield {board: page_message(item)}
        except Exception as error:
            text = explain(error, "The comparison failed. The earlier results are unchanged.")
            yield {line: status_text(text, "error"), board: message("", state="done", note="")}

    job = Job(
        stop, {board: message("", state="stopped", note="Stopped before the runs were timed.")}
    )
    job.bind([go.click, prompt.submit], run, controls, [board, line])


def controls_text(named: dict[str, gr.components.Component], values: Sequence[object]) -> str:
    """All that the controls hold, the same for equal settings; empty where they hold no valid
    ones."""
    try:
        return links.write(named, values)
    except ValueError:
        return ""


TAB = Tab(TITLE, build, styles=("compare/compare",))
