"""The tab "Explore": a recorded run at first, then a real pair decoding with the tree of every step."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from functools import cache, partial
from itertools import chain
from typing import Any

import gradio as gr

from specviz import RunConfig, Step, Trace
from specviz.acceptance.vectors import EMBEDDED, planned_with
from specviz.benchmarks.trials import in_turns
from specviz.codec import plain
from specviz.files import TRACES
from specviz.metrics import Counts
from specviz.player.payload import (
    described,
    head,
    message,
    recorded_message,
    settings_text,
    step_payload,
)
from specviz.proof.same_text import comparing, promised

from ...machine.engine import Engine, batch_by_time, introduced, prefetch
from ...machine.queue import until_run_waits
from ...parts import links, menus, own_pair, presets
from ...parts.controls import Controls, controls, mark, temperature_slider
from ...parts.failures import reason
from ...parts.frame import Tab
from ...parts.job import Job
from ...parts.pairs import models_menu
from ...parts.run_store import STORE, new_name
from ...parts.stage import headline, notice, opener, sentence, stage
from .beside_plain import same, timed
from .sampler import STOPPED, failed, sample, sampler

TITLE = "Explore"
STORIES = {
    "A tale": "Once upon a time there was a little",
    "A ship": "The captain looked at the sea and said",
    "A wood": "In the middle of the great dark forest",
}
CODE = {
    "A class": "class Queue:\n    def __init__(self, maxsize=0):\n        self.maxsize = maxsize\n",
    "A function": 'def read_lines(path):\n    """Return the lines of a file."""\n',
    "A test": "class TestCase(unittest.TestCase):\n    def test_",
}


def build(engine: Engine) -> Controls:
    """Lay out the tab and connect it; returns its controls, for other tabs to set."""
    opened = first_run().config
    with gr.Column(elem_classes="sv-explore"):
        headline(elem_id="sv-headline")
        with gr.Row(elem_classes="sv-ask"):
            prompt = gr.Textbox(
                opened.prompt,
                label="Prompt",
                lines=1,
                max_lines=4,
                show_label=False,
                container=False,
                elem_id="sv-prompt",
            )
            go = gr.Button("Run", variant="primary", min_width=120, scale=0, elem_id="sv-run")
            stop = gr.Button("Stop", interactive=False, min_width=80, scale=0, elem_id="sv-stop")
        with gr.Row(elem_classes="sv-opts"):
            preset = presets.menu()
            temperature = temperature_slider(opened.temperature)
            opener("All settings", opens="sv-settings", elem_id="sv-settings-opener")
        with gr.Column(elem_id="sv-settings"):
            chips(prompt)
            models = models_menu(engine)
            own_pair.lay_out(engine)
            settings = controls(prompt, opened, temperature)
        with gr.Row(elem_classes="sv-said"):
            said = notice(about(opened, engine.titles[0]), elem_id="sv-notice")
            link = links.bar(TITLE, elem_id="sv-link", stage="sv-stage")
        shown = stage(recorded(), elem_id="sv-stage")
        counted = sampler("sv-sampled", stop="sv-stop")
        STORE.ship("recorded", partial((TRACES / "story.json").read_text, "utf-8"))
    links.connect(link, links.Together({"models": models}, {"": settings}), [go.click, prompt.submit])
    running = events(engine, settings, models, preset, go, stop, said, shown, counted)
    presets.connect(engine, settings, models, preset, said, running)
    return settings


def chips(prompt: gr.Textbox) -> None:
    """Preset prompts; a click fills in the prompt in the browser, no request is made."""
    for name, prompts in (("Stories", STORIES), ("Code", CODE)):
        with gr.Row(elem_classes="sv-chips"):
            for label, text in prompts.items():
                chip = gr.Button(label, size="sm", min_width=60, elem_classes=f"sv-chip sv-{name.lower()}")
                chip.click(None, None, prompt, js=f"() => {json.dumps(text)}", api_visibility="private")


def events(engine: Engine, settings: Controls, models, preset, go, stop, said, shown, counted) -> Any:
    """Every event of the tab; returns that of a run."""
    private = {"api_visibility": "private", "preprocess": False}  # `Controls.read` says what is wrong in a sentence
    quiet = {"show_progress": "hidden", **private}

    def check(title: Any, now: Any, *values: Any):
        try:
            config = settings.read(("any", *values[1:]))
        except ValueError as error:
            return sentence("error", str(error)), gr.Button(interactive=False), *(gr.skip() for _ in checked[2:])
        possible = config.resolved.match.possible
        name = presets.preset_of(engine, title, config, now)
        remark = presets.remark(engine, name, title, config)
        fix = None if possible else menus.nearest(config)
        return (
            about(config, title, remark if possible else "", fix),
            gr.Button(interactive=possible),
            gr.Radio(value=name),
            *mark(config),
        )

    checked = [said, go, preset, *settings.strategies.values()]
    changes = [control.change for control in (models, *settings.inputs[1:])]
    gr.on(changes, check, [models, preset, *settings.inputs], checked, queue=False, trigger_mode="always_last", **quiet)

    def run(title: Any, *values: Any) -> Iterator[dict]:
        try:
            config = settings.read(values)
            yield {said: about(config, title)}
            for value in play(engine, config, title):
                yield {shown: value}
        except ValueError as error:
            yield {said: sentence("error", settings.with_labels(error)), shown: message("", state="done")}

    def count(title: Any, *values: Any) -> Iterator[str]:
        try:
            yield from sample(engine, settings.read(values), title)
        except Exception as error:
            yield failed(settings.with_labels(error) if isinstance(error, ValueError) else reason(error))

    job = Job(stop, said, {shown: message("", state="stopped"), counted: STOPPED})
    job.starts(counted.select, count, [models, *settings.inputs], counted)
    return job.starts([go.click, settings.prompt.submit], run, [models, *settings.inputs], [shown, said])


def about(config: RunConfig, title: Any, more: str = "", fix: dict[str, str] | None = None) -> str:
    """The notice on a configuration: its verdict, a fix, and what shows the page whether the picture is of it."""
    kind, text = verdict(config, name_of(title))
    more = fix["text"] if fix else more
    return sentence(kind, f"{text} {more}".rstrip(), settings=settings_text(config), models=str(title), fix=fix)


def name_of(title: Any) -> str:
    """The name that the pair of a title gives itself, as far as vectors are stored for it."""
    return EMBEDDED if str(title).lower() == EMBEDDED else str(title)


def judged(settings: Controls, values: tuple[Any, ...], pair: str = EMBEDDED) -> tuple[str, str, RunConfig | None]:
    """`verdict` on the values of `settings.inputs`, where the prompt may still be empty, and what they stand for."""
    try:
        config = settings.read(("any", *values[1:]))
    except ValueError as error:
        return "error", str(error), None
    return *verdict(config, pair), config


def verdict(config: RunConfig, pair: str = EMBEDDED) -> tuple[str, str]:
    """What is to be said about a configuration before it runs on a pair: a kind of notice and its sentence."""
    builder, _, drafter, match = config.resolved
    notice = planned_with(builder, drafter, pair) if match.possible else ""
    return menus.kind(match), f"{match.reason} {notice}".rstrip()


def play(engine: Engine, config: RunConfig, title: str | None = None) -> Iterator[str]:
    """A run as messages to the page, which shows what it showed before until the first step is there.

    A run that fails on its way ends with a sentence; what was decoded before stays.

    Args:
        engine: has the models.
        config: what to run.
        title: of the pair; the engine's first where it is None.

    Raises:
        ValueError: if it cannot even begin (the prompt is too long, say).
    """
    _, verifier, _, match = config.resolved
    if not match.possible:
        raise ValueError(match.reason)
    lossy = None if match.lossless else match.reason
    run, begun, counts = new_name("run"), False, Counts()
    written: list[int] = []
    with engine.exclusive():
        try:
            for news in engine.loading(title):
                yield message("", state="loading", note=news)
            decoded = engine.compute(introduced, config, title=title)
            blank = next(decoded)
            first = head(config, blank.prompt_text, described(blank.pair), lossy)
            kept = STORE.begin(run, blank)

            def told(steps: Iterator[Step]) -> Iterator[list[str]]:
                """Messages, written in the thread that decodes: no step is timed while one is written."""
                nonlocal counts
                more = {"head": first, "models": title or engine.titles[0]}
                for group in batch_by_time(steps):
                    kept.steps += group
                    counts += Counts.of(group)
                    written.extend(token for step in group for token in step.emitted)
                    payloads = [step_payload(step, verifier) for step in group]
                    yield [message(run, payloads, state="running", figures=plain(counts.figures()), **more)]
                    more = {}

            with closing(prefetch(decoded, told)) as groups:
                for news in chain.from_iterable(groups):
                    yield news
                    begun = True
            kept.ended = True
            turns = engine.compute(in_turns, config, counts, title=title)
            result = yield from timed(run, until_run_waits(turns), kept)
            yield message(run, state="done", **result)
            if promised(verifier, config.temperature):
                compared = engine.compute(comparing, config, written, title=title)
                yield from same(run, compared, len(written), blank.pair.get("dtype"))
        except Exception as error:
            if isinstance(error, ValueError) and not begun:
                raise
            yield message(run if begun else "", state="error", note=f"The run failed. {reason(error)}")


@cache
def first_run() -> Trace:
    """The run that the page opens with; the controls hold its settings."""
    return Trace.from_json((TRACES / "story.json").read_text("utf-8"))


def recorded() -> str:
    """The same as a message to the page."""
    return recorded_message(first_run(), Trace.from_json((TRACES / "plain.json").read_text("utf-8")))


TAB = Tab(TITLE, build, styles=("stage/explore",))
