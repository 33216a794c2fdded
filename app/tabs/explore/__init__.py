"""The tab "Explore": recorded runs that answer at once, and a real pair decoding with the tree of
every step."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import lru_cache

import gradio as gr

from specviz.config.run_config import RunConfig, compatible
from specviz.drafters import DRAFTERS
from specviz.models.catalogue import default_drafter
from specviz.record.vectors import EMBEDDED, planned_with
from specviz.view.payload import message, page_json, settings_text
from specviz.view.web import asset

from ...service.failures import explain
from ...service.pair_ref import TALES, PairRef
from ...service.pairs import Pairs
from ...service.queue import visitor_of
from ...service.service import RunService
from ..parts import links, menus, own_pair, presets
from ..parts.answers import ask_about
from ..parts.controls import Controls, controls, mark
from ..parts.frame import Tab
from ..parts.job import Job
from ..parts.pairs import OWN, models_menu, weights_menu
from ..parts.stage import ask, notice, opener, sentence, stage
from ..parts.web import QUIET, component
from . import prompts, recordings
from .messages import decode_run, page_message
from .sampler import COUNTS, STOPPED, noted, sample

TITLE = "Explore"
# what the run on the stage shows
HEADLINE = (
    '<p class="sv-newcomer sv-ui">'
    '<button type="button" class="sv-plain">New here? Lesson 1</button></p>'
    '<h2 class="sv-headline"><em></em><span></span> <small></small></h2>'
    '<progress class="sv-progress" aria-label="loading" hidden></progress>'
)


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    pairs = service.pairs
    first = recordings.opening(pairs.first.target)
    for recording in recordings.RECORDINGS:
        # Read only when somebody asks for it: a page opens with one of them.
        service.runs.ship(recording.name, recording.read)
    opened = first.config
    ref = pairs.find(pairs.first.models, first.ref.weights)
    with gr.Column(elem_classes="sv-explore"):
        with gr.Row(elem_classes="sv-top"):
            component("headline", HEADLINE, elem_id="sv-headline")
            options = {"runs": COUNTS, "stop": "sv-stop"}
            sample_chart = component(
                "sampled", asset("stage/sampled.html"), options=options, elem_id="sv-sampled"
            )
        with gr.Row(elem_classes="sv-ask"):
            prompt, go, stop = ask(str(opened.prompt), "sv")
        examples = prompts.lay_out(service, ref, first.ref.target)
        with gr.Row(elem_classes="sv-opts"):
            models = models_menu(service, ref)
            choices = presets.lay_out(opened)
            weights = weights_menu(service, ref)
            opener("All settings", opens="sv-settings", elem_id="sv-settings-opener")
        with gr.Column(elem_id="sv-settings"):
            own_pair.lay_out(service)
            settings = controls(prompt, opened)
        with gr.Row(elem_classes="sv-notices"):
            notice_box = notice(about(opened, ref), elem_id="sv-notice")
            link = links.bar(TITLE, elem_id="sv-link")
        stage_box = stage(service, first.message(ref))
    linked = links.Linked({"models": models, "weights": weights}, settings)
    follow_link = links.connect(link, linked, [go.click, prompt.submit])
    events(
        service,
        settings,
        [models, weights],
        choices,
        go,
        stop,
        examples,
        notice_box,
        stage_box,
        sample_chart,
        follow_link,
    )
    presets.connect(settings, choices)


def events(
    service: RunService,
    settings: Controls,
    pair_menus: list[gr.components.Component],
    choices: list[gr.Radio],
    go: gr.Button,
    stop: gr.Button,
    examples: gr.HTML,
    notice_box: gr.HTML,
    stage_box: gr.HTML,
    sample_chart: gr.HTML,
    follow_link: Callable[..., object],
) -> None:
    """Every event of the tab."""

    def check(models: object, weights: object, *values: object) -> tuple[object, ...]:
        if models == OWN:  # which opens a form, and is no pair yet
            return tuple(gr.skip() for _ in checked)
        try:
            # Without the prompt, which may be empty while somebody types it; Run looks at it.
            config = settings.read(("any", *values[1:]))
            ref = service.pairs.find(models, weights)
        except ValueError as error:
            unchanged = [gr.skip() for _ in checked[2:]]
            return sentence("error", str(error)), gr.update(interactive=False), *unchanged
        possible = compatible(config).possible
        return (
            about(config, ref, None if possible else menus.nearest(config), values[0]),
            gr.update(interactive=possible),
            *presets.chosen(config),
            recorded(service.pairs, values[0], config, ref) or gr.skip(),
            *mark(config),
        )

    checked = [notice_box, go, *choices, stage_box, *settings.strategies.values()]
    inputs = [*pair_menus, *settings.inputs]
    # The prompt itself asks nothing while somebody types it; an example that is pressed does.
    changing = [control for control in inputs if control is not settings.prompt]
    changes = [control.change for control in changing]
    ask_about([*changes, examples.select], check, inputs, checked, unless=changing)
    follow_link(check, inputs, checked, **QUIET)  # a link may set the prompt alone

    def switch(models: object, weights: object, prompt: object) -> list[object]:
        """Replace an example prompt by the one that a newly chosen pair opens with."""
        # Only a prompt that the page brought itself is replaced, never one that somebody wrote.
        example = prompts.EXAMPLES.get(models)
        known: list[object] = []
        for other in prompts.EXAMPLES.values():
            known += other["prompts"].values()
        if example is None or prompt not in known or prompt in example["prompts"].values():
            return [gr.skip(), gr.skip(), gr.skip()]
        opening = recordings.OPENINGS[models]
        ref = service.pairs.find(models, weights)
        picture = recorded(service.pairs, opening.prompt, opening, ref)
        return [opening.prompt, opening.seed, picture or gr.skip()]

    switched = [settings.prompt, settings.scalars["seed"], stage_box]
    switch_inputs = [*pair_menus, settings.prompt]
    ask_about([pair_menus[0].input], switch, switch_inputs, switched, unless=switch_inputs)

    async def run(
        request: gr.Request, models: object, weights: object, *values: object
    ) -> AsyncIterator[dict]:
        try:
            config = settings.read(values)
            ref = service.pairs.find(models, weights)
            compatible(config).required()
            # In place of what the run before may have failed with. Which settings the controls
            # hold is not said: they may have changed since Run was pressed.
            yield {notice_box: sentence(*verdict(config, ref))}
            items = service.stream(
                visitor_of(request),
                ref,
                decode_run,
                config,
                ref,
                service.runs,
                replaces=True,
            )
            async with aclosing(items):
                async for item in items:
                    yield {stage_box: page_message(item)}
        except Exception as error:
            text = explain(error, "The run failed.")
            yield {notice_box: sentence("error", text), stage_box: message("", state="done")}

    async def count(
        request: gr.Request, event: gr.EventData, models: object, weights: object, *values: object
    ) -> AsyncIterator[str]:
        try:
            runs = getattr(event, "runs", None)
            if runs not in COUNTS:
                runs = COUNTS[0]
            config = settings.read(values)
            ref = service.pairs.find(models, weights)
            items = service.stream(
                visitor_of(request),
                ref,
                sample,
                config,
                runs,
                replaces=True,
            )
            async with aclosing(items):
                async for item in items:
                    yield noted(item)
        except Exception as error:
            text = explain(error, "The sampling failed.")
            yield page_json({"state": "error", "text": text})

    stopped = {stage_box: message("", state="stopped"), sample_chart: STOPPED}
    job = Job(stop, stopped)
    job.bind(sample_chart.select, count, inputs, [sample_chart])
    job.bind([go.click, settings.prompt.submit], run, inputs, [stage_box, notice_box])


def recorded(pairs: Pairs, prompt: object, config: RunConfig, ref: PairRef) -> str | None:
    """The message of the recording of a configuration on a pair, where there is one."""
    if not isinstance(prompt, str) or not prompt.strip():
        return None
    # The page's own pair may have no recordings, such as toy tables: those of SmolLM2, with which
    # the page then opens, stand for its own.
    opens = recordings.opening(pairs.first.target).ref.target
    recorded_as = ref
    if ref.models == pairs.first.models:
        recorded_as = replace(ref, target=opens, draft="")
    recording = recordings.find(replace(config, prompt=prompt), recorded_as)
    return recording and recording.message(ref)


def about(
    config: RunConfig, ref: PairRef, fix: dict[str, str] | None = None, prompt: object = ""
) -> str:
    """The notice on a configuration: its verdict, a fix, and what shows the page whether the
    picture is of it; `prompt` is what the controls hold."""
    kind, text = verdict(config, ref)
    if fix:
        text = f"{text} {fix['text']}"
    return sentence(
        kind,
        text,
        settings=settings_text(config),
        models=ref.models,
        weights=ref.weights,
        prompt=prompt,
        fix=fix,
    )


def verdict(config: RunConfig, ref: PairRef | None = None) -> tuple[str, str]:
    """What is to be said about a configuration before it runs on a pair, the embedded one by
    default: a kind of notice and its sentence."""
    # Its vectors are stored under one name, whichever of its drafts is chosen.
    pair = EMBEDDED
    if ref is not None and ref.target != TALES:
        pair = ref.models
    # The page opens without torch; with it come the pairs, perhaps on a GPU.
    torch = sys.modules.get("torch")
    return _verdict(config, pair, torch is not None and torch.cuda.is_available())


@lru_cache(maxsize=1024)  # asked at every change of a control, and again at Run
def _verdict(config: RunConfig, pair: str, on_gpu: bool) -> tuple[str, str]:
    match = compatible(config)
    drafter = config.drafter
    if drafter.name == "model":  # the pair's own
        drafter = DRAFTERS[default_drafter(pair, is_compiled=not on_gpu)]()
    reason = match.reason
    if match.possible:  # else it is never planned
        reason = f"{reason} {planned_with(config.builder, drafter, pair)}".rstrip()
    return menus.kind(match), reason


TAB = Tab(TITLE, build, styles=("stage/explore",))
