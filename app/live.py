"""The tab "Live": a recorded run at first, then a real pair decoding with the tree of every step."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from typing import Any

import gradio as gr

from specviz import Trace, compatible
from specviz.payload import head, message, recorded_message, step_payload
from specviz.registry import build as made
from specviz.same_text import Comparison, comparing, promised

from . import links, menus
from .controls import Controls, controls
from .keeping import SHELF, new_name
from .session import Engine, ahead, introduced, paced
from .stage import ASSETS, notice, sentence, stage
from .waiting import MACHINE, refused

TITLE = "Live"
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
COMPARED_AT_ONCE = 8  # tokens between two signs of life while a run is compared with plain decoding


def build(engine: Engine) -> Controls:
    """Lay out the tab and connect it; returns its controls, for other tabs to set."""
    with gr.Row(elem_classes="sv-page"):
        with gr.Column(scale=0, min_width=330, elem_classes="sv-rail"):
            prompt = gr.Textbox(next(iter(STORIES.values())), label="Prompt", lines=3, max_lines=6, elem_id="sv-prompt")
            chips(prompt)
            with gr.Row(elem_classes="sv-go"):
                go = gr.Button("Run", variant="primary", elem_id="sv-run")
                stop = gr.Button("Stop", interactive=False, elem_id="sv-stop")
            said = notice("", elem_id="sv-notice")
            link = links.bar(TITLE, elem_id="sv-link", stage="sv-stage")
            models = gr.Dropdown(
                engine.titles,
                value=engine.titles[0],
                label="Models",
                filterable=engine.takes_any,
                allow_custom_value=engine.takes_any,
                info="Or type target|draft: folders, or names on the hub." if engine.takes_any else None,
                visible=len(engine.titles) > 1 or engine.takes_any,
            )
            settings = controls(prompt)
            first = tuple(control.value for control in settings.inputs)
            said.value = sentence(*verdict(settings, first))
            settings.builder.menu.choices, settings.verifier.menu.choices = settings.menus(first)
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            shown = stage(recorded(), elem_id="sv-stage")
            SHELF.always("recorded", partial((ASSETS / "traces" / "story.json").read_text, "utf-8"))
    connect(engine, settings, models, go, stop, said, shown)
    links.connect(link, links.Together({"models": models}, {"": settings}), [go.click, prompt.submit])
    return settings


def chips(prompt: gr.Textbox) -> None:
    """Preset prompts; a click fills in the prompt in the browser, no request is made."""
    for name, presets in (("Stories", STORIES), ("Code", CODE)):
        with gr.Row(elem_classes="sv-chips"):
            for label, text in presets.items():
                chip = gr.Button(label, size="sm", min_width=60, elem_classes=f"sv-chip sv-{name.lower()}")
                chip.click(None, None, prompt, js=f"() => {json.dumps(text)}", api_visibility="private")


def connect(engine: Engine, settings: Controls, models, go, stop, said, shown) -> None:
    """Every event of the tab."""
    private = {"api_visibility": "private", "preprocess": False}  # `Controls.read` says what is wrong in a sentence
    quiet = {"show_progress": "hidden", **private}

    def check(*values: Any):
        kind, text = verdict(settings, values)
        try:
            marked = [gr.Dropdown(choices=choices) for choices in settings.menus(values)]
        except ValueError:  # said in the notice
            marked = [gr.skip(), gr.skip()]
        return sentence(kind, text), gr.Button(interactive=kind not in ("impossible", "error")), *marked

    told = [said, go, settings.builder.menu, settings.verifier.menu]
    for control in settings.inputs[1:]:
        control.change(check, settings.inputs, told, queue=False, trigger_mode="always_last", **quiet)

    def run(title: Any, *values: Any) -> Iterator[dict]:
        kind, text = verdict(settings, values, whole=True)
        yield {said: sentence(kind, text)}
        try:
            if kind in ("impossible", "error"):
                raise ValueError(text)
            for value in play(engine, settings.read(values), text if kind == "lossy" else None, title):
                yield {shown: value}
        except ValueError as error:
            yield {said: sentence("error", settings.with_labels(str(error))), shown: message("", state="done")}
        yield {stop: gr.Button(interactive=False)}

    asked = [go.click, settings.prompt.submit]
    # In the browser, at once: waiting in the queue can be stopped as well.
    gr.on(asked, None, None, stop, js="() => ({__type__: 'update', interactive: true})", **quiet)
    running = gr.on(
        asked,
        run,
        [models, *settings.inputs],
        [shown, said, stop],
        show_progress="minimal",
        show_progress_on=said,
        **MACHINE,
        **private,
    )
    refused(running, said, stop)
    stop.click(
        lambda: (message("", state="stopped"), gr.Button(interactive=False)),
        None,
        [shown, stop],
        cancels=[running],
        queue=False,
        **quiet,
    )


def verdict(settings: Controls, values: tuple[Any, ...], whole: bool = False) -> tuple[str, str]:
    """What is to be said about the chosen configuration before it runs: a kind of notice and its sentence.

    Args:
        values: of `settings.inputs`.
        whole: also look at the prompt, which may still be empty while other controls are turned.
    """
    try:
        if not whole:
            values = ("any", *values[1:])
        config = settings.read(values)
        match = compatible(config.builder, config.verifier, config.temperature, config.draft_temperature)
    except ValueError as error:
        return "error", str(error)
    return menus.kind(match), match.reason


def play(engine: Engine, config: Any, lossy: str | None = None, title: str | None = None) -> Iterator[str]:
    """A run as messages to the page, which shows what it showed before until the first step is there.

    A run that fails on its way ends with a sentence; what was decoded before stays.

    Args:
        engine: has the models.
        config: what to run.
        lossy: why the text is not the target's own, if it is not.
        title: of the pair; the engine's first where it is None.

    Raises:
        ValueError: if it cannot even begin (the prompt is too long, say).
    """
    run, begun, written = new_name("run"), False, []
    with engine.alone():
        try:
            for _ in engine.loading(title):
                yield message("", state="loading", note="Loading the models. This happens once.")
            decoded = engine.compute(introduced, config, title=title)
            blank = next(decoded)
            about = head(config, config.prompt, blank.pair["name"], lossy)
            kept = SHELF.begin(run, blank)
            with closing(ahead(decoded, paced)) as groups:
                for group in groups:
                    kept.steps += group
                    written += [token for step in group for token in step.emitted]
                    steps = [step_payload(step, config.verifier) for step in group]
                    first = {} if begun else {"head": about, "plain_rate": engine.plain_rate(config, title=title)}
                    yield message(run, steps, state="running", **first)
                    begun = True
            kept.ended = True
            yield message(run, state="running", note="Measuring plain decoding for comparison.")
            yield message(run, state="done", plain_rate=engine.plain_rate(config, True, title))
            if promised(made("verifier", config.verifier), config.temperature):
                compared = engine.compute(comparing, config, written, title=title)
                yield from same(run, compared, len(written), blank.pair.get("dtype"))
        except Exception as error:
            if isinstance(error, ValueError) and not begun:
                raise
            logging.getLogger(__name__).exception("a run failed")
            told = str(error) if isinstance(error, ValueError) else "The reason is in the server's log."
            yield message(run if begun else "", state="error", note=f"The run failed. {told}")


def same(run: str, compared: Iterator[Comparison], written: int, dtype: str | None = None) -> Iterator[str]:
    """Plain decoding beside a finished run, as messages; whoever stops listening stops it within a few passes.

    Args:
        run: its name on the page.
        compared: from `comparing`.
        written: how many tokens there are to compare.
        dtype: the models' number format.
    """
    found = None
    for found in compared:
        if found.equal and found.compared % COMPARED_AT_ONCE == 1:
            text = f"Comparing with plain decoding: {found.compared} of {written} tokens."
            yield message(run, same={"kind": "checking", "text": text})
    if found is not None:
        told = found.sentence(dtype)
        yield message(run, same={"kind": "equal" if found.equal else "differs", "text": told})


def recorded() -> str:
    """The run the page opens with."""
    traces = ASSETS / "traces"
    trace, plain = (Trace.from_json((traces / f"{name}.json").read_text("utf-8")) for name in ("story", "plain"))
    return recorded_message(trace, plain)
