"""The tab "Explore": recorded runs that answer at once, and a real pair decoding with the tree of
every step."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
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
from ...service.service import RunService
from ..parts import links, menus, own_pair, presets
from ..parts.answers import ask_about
from ..parts.controls import Controls, controls, mark
from ..parts.frame import Tab
from ..parts.job import Job, streamed
from ..parts.pairs import models_menu, weights_menu
from ..parts.stage import ask, notice, opener, sentence, stage
from ..parts.web import component
from . import prompts, recordings
from .messages import decode_run, page_message
from .sampler import STOPPED, noted, sample

TITLE = "Explore"
# what the run on the stage shows
HEADLINE = (
    '<p class="sv-newcomer sv-ui sv-not-presented">'
    '<button type="button" class="sv-plain">New here? Lesson 1</button></p>'
    '<h2 class="sv-headline sv-answer"><em></em><span></span> <small></small></h2>'
    '<progress class="sv-progress" aria-label="loading" hidden></progress>'
)


def build(service: RunService) -> None:
    """Lay out the tab and connect it."""
    pairs = service.pairs
    ref = pairs.find(pairs.first.models, "disk")
    first = recordings.opening(ref.target, ref.weights)
    for recording in recordings.RECORDINGS:
        # Read only when somebody asks for it: a page opens with one of them.
        service.runs.ship(recording.name, recording.read)
    opened = first.config
    with gr.Column(elem_classes="sv-explore"):
        with gr.Row(elem_classes="sv-top"):
            component("headline", HEADLINE, elem_id="sv-headline")
            sample_chart = component(
                "sampled",
                asset("stage/sampled.html"),
                options={"stop": "sv-stop"},
                elem_id="sv-sampled",
            )
        with gr.Row(elem_classes="sv-ask sv-not-presented"):
            prompt, go, stop = ask(str(opened.prompt), "sv")
        examples = prompts.lay_out(service, ref, first.ref.target)
        with gr.Row(elem_classes="sv-opts sv-not-presented"):
            models = models_menu(service, ref)
            choices = presets.lay_out(opened)
            weights = weights_menu(service, ref)
            opener("All settings", opens="sv-settings", elem_id="sv-settings-opener")
        with gr.Column(elem_id="sv-settings"):
            own_pair.lay_out(service)
            settings = controls(prompt, opened)
        named = {"models": models, "weights": weights, **settings.named}
        link = links.opened(service, TITLE, named)
        with gr.Row(elem_classes="sv-notices sv-not-presented"):
            notice_box = notice(about(opened, ref), elem_id="sv-notice")
        stage_box = stage(service, first.message(ref))
    inputs = list(named.values())
    answers = Answers(service, settings)
    # Typing a prompt asks nothing. An example that is pressed does, and a link, which may set the
    # prompt alone.
    changing = [control for control in inputs if control is not prompt]
    triggers = [control.change for control in changing]
    checked = [notice_box, go, stage_box, *choices, *settings.strategies.values()]
    ask_about([*triggers, link.change, examples.select], answers.check, changing, checked, [prompt])
    presets.connect(settings, choices)
    job = Job(stop, {stage_box: message("", state="stopped"), sample_chart: STOPPED})
    job.bind(sample_chart.select, answers.count, inputs, [sample_chart])
    job.bind([go.click, prompt.submit], answers.run, inputs, [notice_box, stage_box])


@dataclass
class Answers:
    """What the tab answers, to values of its controls and to what they ask to run."""

    service: RunService
    settings: Controls

    def check(self, models: object, weights: object, *values: object) -> tuple[object, ...]:
        """What is said of the settings, whose values come before that of the prompt; and the
        recording of them, where there is one."""
        *others, prompt = values
        try:
            # Without the prompt, which may be empty while somebody types it; Run looks at it.
            config = self.settings.read(("any", *others))
            ref = self.service.pairs.find(models, weights)
        except ValueError as error:
            unchanged = [gr.skip()] * 6  # the stage, the choices and the pickers
            return sentence("error", str(error)), gr.update(interactive=False), *unchanged
        possible = compatible(config).possible
        return (
            about(config, ref, None if possible else menus.nearest(config), prompt),
            gr.update(interactive=possible),
            recorded(self.service.pairs, prompt, config, ref) or gr.skip(),
            *presets.chosen(config),
            *mark(config),
        )

    async def run(
        self, request: gr.Request, models: object, weights: object, *values: object
    ) -> AsyncIterator[tuple[object, object]]:
        """The notice and the messages to the stage of a run."""
        try:
            config = self.settings.read(values)
            ref = self.service.pairs.find(models, weights)
            compatible(config).required()
            # In place of what the run before may have failed with. Which settings the controls
            # hold is not said: they may have changed since Run was pressed.
            yield sentence(*verdict(config, ref)), gr.skip()
            runs = self.service.runs
            prompts = [config.prompt]
            run = streamed(
                self.service, request, ref, decode_run, config, ref, runs, prompts=prompts
            )
            async with run as items:
                async for item in items:
                    yield gr.skip(), page_message(item)
        except Exception as error:
            text = explain(error, "The run failed.")
            yield sentence("error", text), message("", state="done")

    async def count(
        self, request: gr.Request, models: object, weights: object, *values: object
    ) -> AsyncIterator[str]:
        """The messages of a sampling."""
        try:
            config = self.settings.read(values)
            ref = self.service.pairs.find(models, weights)
            prompts = [config.prompt]
            run = streamed(self.service, request, ref, sample, config, prompts=prompts)
            async with run as items:
                async for item in items:
                    yield noted(item)
        except Exception as error:
            text = explain(error, "The sampling failed.")
            yield page_json({"state": "error", "text": text})


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
