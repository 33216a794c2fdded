"""The tab "Explore": recorded runs that answer at once, and a real pair decoding with the tree of
every step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import gradio as gr

from specviz.config.run_config import RunConfig, compatible
from specviz.proof.sampled import RUNS
from specviz.record.vectors import EMBEDDED, planned_with
from specviz.view.payload import message, settings_text
from specviz.view.web import asset

from ...machine.engine import Engine
from ...machine.models import EMBEDDED as EMBEDDED_PAIR
from ...machine.models import on_disk
from ...parts import links, menus, own_pair, presets
from ...parts.controls import Controls, controls, mark
from ...parts.failures import reason
from ...parts.frame import Tab
from ...parts.job import Job
from ...parts.pairs import models_menu, title_of, weights_menu
from ...parts.stage import ask, notice, opener, sentence, stage
from ...parts.web import QUIET, component
from . import recordings
from .messages import play
from .sampler import STOPPED, sample

TITLE = "Explore"
# what the run on the stage shows
HEADLINE = '<h2 class="sv-headline"><em></em><span></span> <small></small></h2>'
PROMPTS = {
    "A tale": "Once upon a time there was a little",
    "A ship": "The captain looked at the sea and said",
    "Code": 'def read_lines(path):\n    """Return the lines of a file."""\n',
}


def build(engine: Engine) -> Controls:
    """Lay out the tab and connect it; returns its controls, for other tabs to set."""
    first = recordings.opening()
    opened = first.config
    with gr.Column(elem_classes="sv-explore"):
        with gr.Row(elem_classes="sv-top"):
            component("headline", HEADLINE, elem_id="sv-headline")
            options = {"runs": RUNS, "stop": "sv-stop"}
            sample_chart = component(
                "sampled", asset("stage/sampled.html"), options=options, elem_id="sv-sampled"
            )
        with gr.Row(elem_classes="sv-ask"):
            prompt, go, stop = ask(str(opened.prompt), "sv")
            chips(prompt)
        with gr.Row(elem_classes="sv-opts"):
            choices = presets.lay_out(opened)
            weights = weights_menu(engine, "disk" if on_disk(first.title) else "memory")
            opener("All settings", opens="sv-settings", elem_id="sv-settings-opener")
        with gr.Column(elem_id="sv-settings"):
            models = models_menu(engine)
            own_pair.lay_out(engine)
            settings = controls(prompt, opened)
        with gr.Row(elem_classes="sv-said"):
            title = title_of(engine, engine.titles[0], weights.value)
            notice_box = notice(about(opened, title), elem_id="sv-notice")
            link = links.bar(TITLE, elem_id="sv-link")
        stage_box = stage(first.message(title), elem_id="sv-stage")
    linked = links.LinkedGroups({"models": models, "weights": weights}, {"": settings})
    links.connect(link, linked, [go.click, prompt.submit])
    boxes = {"models": models, "weights": weights, "choices": choices, "go": go, "stop": stop}
    events(engine, settings, boxes, notice_box, stage_box, sample_chart)
    presets.connect(settings, choices)
    return settings


def chips(prompt: gr.Textbox) -> None:
    """Prompts to begin with; a click fills in the prompt in the browser, no request is made."""
    with gr.Row(elem_classes="sv-chips"):
        for label, text in PROMPTS.items():
            chip = gr.Button(label, size="sm", min_width=60, elem_classes="sv-chip")
            chip.click(None, None, prompt, js=f"() => {json.dumps(text)}", api_visibility="private")


def events(
    engine: Engine, settings: Controls, boxes: dict[str, Any], notice_box, stage_box, sample_chart
) -> Any:
    """Every event of the tab; returns that of a run."""
    pairs = [boxes["models"], boxes["weights"]]

    def check(models: Any, weights: Any, *values: Any):
        try:
            config = settings.read(("any", *values[1:]))
        except ValueError as error:
            return (
                sentence("error", str(error)),
                gr.Button(interactive=False),
                *(gr.skip() for _ in checked[2:]),
            )
        possible, title = compatible(config).possible, title_of(engine, models, weights)
        return (
            about(config, title, None if possible else menus.nearest(config)),
            gr.Button(interactive=possible),
            *(gr.Radio(value=value) for value in presets.chosen(config)),
            recorded(values[0], config, title, engine.titles[0]) or gr.skip(),
            *mark(config),
        )

    checked = [notice_box, boxes["go"], *boxes["choices"], stage_box, *settings.strategies.values()]
    changes = [control.change for control in (*pairs, *settings.inputs[1:])]
    gr.on(changes, check, [*pairs, *settings.inputs], checked, trigger_mode="always_last", **QUIET)

    def run(models: Any, weights: Any, *values: Any) -> Iterator[dict]:
        try:
            config, title = settings.read(values), title_of(engine, models, weights)
            yield {notice_box: about(config, title)}
            for value in play(engine, config, title):
                yield {stage_box: value}
        except ValueError as error:
            yield {
                notice_box: sentence("error", settings.with_labels(error)),
                stage_box: message("", state="done"),
            }

    def count(models: Any, weights: Any, *values: Any) -> Iterator[str]:
        try:
            yield from sample(engine, settings.read(values), title_of(engine, models, weights))
        except Exception as error:
            text = settings.with_labels(error) if isinstance(error, ValueError) else reason(error)
            yield json.dumps({"state": "error", "text": text})

    job = Job(
        boxes["stop"], notice_box, {stage_box: message("", state="stopped"), sample_chart: STOPPED}
    )
    job.starts(sample_chart.select, count, [*pairs, *settings.inputs], sample_chart)
    return job.starts(
        [boxes["go"].click, settings.prompt.submit],
        run,
        [*pairs, *settings.inputs],
        [stage_box, notice_box],
    )


def recorded(prompt: Any, config: RunConfig, title: Any, first: str = EMBEDDED_PAIR) -> str | None:
    """The message of the recording of a configuration, where there is one; recordings stand for the
    `first` pair."""
    if not isinstance(prompt, str) or not prompt.strip() or not isinstance(title, str):
        return None
    recording = recordings.find(
        replace(config, prompt=prompt), title.replace(first, EMBEDDED_PAIR, 1)
    )
    return recording and recording.message(title)


def about(config: RunConfig, title: Any, fix: dict[str, str] | None = None) -> str:
    """The notice on a configuration: its verdict, a fix, and what shows the page whether the
    picture is of it."""
    embedded = str(title).lower().startswith(EMBEDDED)  # for which vectors are stored
    kind, text = verdict(config, EMBEDDED if embedded else str(title))
    more = fix["text"] if fix else ""
    return sentence(
        kind, f"{text} {more}".rstrip(), settings=settings_text(config), models=str(title), fix=fix
    )


def judged(
    settings: Controls, values: tuple[Any, ...], pair: str = EMBEDDED
) -> tuple[str, str, RunConfig | None]:
    """`verdict` on the values of `settings.inputs`, where the prompt may still be empty, and what
    they stand for."""
    try:
        config = settings.read(("any", *values[1:]))
    except ValueError as error:
        return "error", str(error), None
    return *verdict(config, pair), config


def verdict(config: RunConfig, pair: str = EMBEDDED) -> tuple[str, str]:
    """What is to be said about a configuration before it runs on a pair: a kind of notice and its
    sentence."""
    builder, drafter, match = config.builder, config.drafter, compatible(config)
    planned = planned_with(builder, drafter, pair) if match.possible else ""
    return menus.kind(match), f"{match.reason} {planned}".rstrip()


TAB = Tab(TITLE, build, styles=("stage/explore",))
