"""The tab "Explore": a recorded run at first, then a real pair decoding with the tree of every step."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from contextlib import closing
from functools import partial
from typing import Any

import gradio as gr

from specviz import RunConfig, Trace
from specviz.acceptance.vectors import EMBEDDED, planned_with
from specviz.benchmarks.paired_speedup import ROUNDS, PairedSpeedup, in_turns
from specviz.codec import plain
from specviz.metrics import Counts
from specviz.paths import TRACES
from specviz.player.payload import described, head, message, recorded_message, step_payload
from specviz.proof.same_text import Comparison, comparing, promised

from ..machine.engine import Engine, batch_by_time, introduced, prefetch
from ..machine.line import undisturbed
from ..parts import best_tree, links, menus
from ..parts.controls import Controls, controls
from ..parts.failures import reason
from ..parts.frame import Tab
from ..parts.job import Job
from ..parts.menus import models_menu
from ..parts.shelf import SHELF, new_name
from ..parts.stage import notice, sentence, stage

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
            models = models_menu(engine)
            settings = controls(prompt)
            first = tuple(control.value for control in settings.inputs)
            config = settings.read(first)
            said.value = sentence(*verdict(config, name_of(models.value)))
            for menu, marked in zip(settings.menu_boxes, settings.menus(first, config), strict=True):
                menu.choices = marked
        with gr.Column(scale=1, min_width=320, elem_classes="sv-main"):
            shown = stage(recorded(), elem_id="sv-stage")
            SHELF.always("recorded", partial((TRACES / "story.json").read_text, "utf-8"))
    links.connect(link, links.Together({"models": models}, {"": settings}), [go.click, prompt.submit])
    running = events(engine, settings, models, go, stop, said, shown)
    best_tree.connect(engine, settings, models, running)
    return settings


def chips(prompt: gr.Textbox) -> None:
    """Preset prompts; a click fills in the prompt in the browser, no request is made."""
    for name, presets in (("Stories", STORIES), ("Code", CODE)):
        with gr.Row(elem_classes="sv-chips"):
            for label, text in presets.items():
                chip = gr.Button(label, size="sm", min_width=60, elem_classes=f"sv-chip sv-{name.lower()}")
                chip.click(None, None, prompt, js=f"() => {json.dumps(text)}", api_visibility="private")


def events(engine: Engine, settings: Controls, models, go, stop, said, shown) -> Any:
    """Every event of the tab; returns that of a run."""
    private = {"api_visibility": "private", "preprocess": False}  # `Controls.read` says what is wrong in a sentence
    quiet = {"show_progress": "hidden", **private}

    def check(title: Any, *values: Any):
        kind, text, config = judged(settings, values, name_of(title))
        marked = [gr.skip() for _ in settings.menu_boxes]
        if config is not None:
            marked = [gr.Dropdown(choices=choices) for choices in settings.menus(values, config)]
        return sentence(kind, text), gr.Button(interactive=kind not in ("impossible", "error")), *marked

    checked = [said, go, *settings.menu_boxes]
    changes = [control.change for control in (models, *settings.inputs[1:])]
    gr.on(changes, check, [models, *settings.inputs], checked, queue=False, trigger_mode="always_last", **quiet)

    def run(title: Any, *values: Any) -> Iterator[dict]:
        try:
            config = settings.read(values)
            kind, text = verdict(config, name_of(title))
            yield {said: sentence(kind, text)}
            for value in play(engine, config, title):
                yield {shown: value}
        except ValueError as error:
            yield {said: sentence("error", settings.with_labels(error)), shown: message("", state="done")}

    job = Job(stop, said, {shown: message("", state="stopped")})
    return job.starts([go.click, settings.prompt.submit], run, [models, *settings.inputs], [shown, said])


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
    run, begun, written, counts = new_name("run"), False, [], Counts()
    with engine.exclusive():
        try:
            for news in engine.loading(title):
                yield message("", state="loading", note=news)
            decoded = engine.compute(introduced, config, title=title)
            blank = next(decoded)
            about = head(config, blank.prompt_text, described(blank.pair), lossy)
            kept = SHELF.begin(run, blank)
            with closing(prefetch(decoded, batch_by_time)) as groups:
                for group in groups:
                    kept.steps += group
                    counts += Counts.of(group)
                    written += [token for step in group for token in step.emitted]
                    steps = [step_payload(step, verifier) for step in group]
                    figures = plain(counts.figures())
                    yield message(run, steps, state="running", figures=figures, **({} if begun else {"head": about}))
                    begun = True
            kept.ended = True
            turns = engine.compute(in_turns, config, counts, title=title)
            result = yield from timed(run, undisturbed(turns))
            yield message(run, state="done", **result)
            if promised(verifier, config.temperature):
                compared = engine.compute(comparing, config, written, title=title)
                yield from same(run, compared, len(written), blank.pair.get("dtype"))
        except Exception as error:
            if isinstance(error, ValueError) and not begun:
                raise
            yield message(run if begun else "", state="error", note=f"The run failed. {reason(error)}")


def timed(run: str, turns: Iterator[PairedSpeedup | None]) -> Generator[str, None, dict[str, Any]]:
    """Time a finished run against plain decoding, as messages; returns the content of the last one.

    Args:
        run: its name on the page.
        turns: from `in_turns`.
    """
    result: dict[str, Any] = {}
    note = f"Timing the run against plain decoding, {ROUNDS} rounds."
    yield message(run, state="running", note=note, timing={"done": 0, "of": ROUNDS})
    for news in turns:
        if news is not None:
            result = {"speedup": plain(news)}
            note = f"Timing the run against plain decoding: {news.rounds} of {ROUNDS} rounds."
            timing = {"done": news.rounds, "of": ROUNDS}
            yield message(run, state="running", note=note, timing=timing, **result)
    return result


def same(run: str, compared: Iterator[Comparison], written: int, dtype: str | None = None) -> Iterator[str]:
    """Plain decoding beside a finished run, as messages; it stops within a few passes after the reader stops.

    Args:
        run: its name on the page.
        compared: from `comparing`.
        written: how many tokens there are to compare.
        dtype: the models' number format.
    """
    result = None
    for result in compared:
        if result.equal and result.compared % COMPARED_AT_ONCE == 1:
            text = f"Comparing with plain decoding: {result.compared} of {written} tokens."
            yield message(run, same={"kind": "checking", "text": text})
    if result is not None:
        yield message(run, same={"kind": "equal" if result.equal else "differs", "text": result.sentence(dtype)})


def recorded() -> str:
    """The run that the page opens with."""
    trace, plain = (Trace.from_json((TRACES / f"{name}.json").read_text("utf-8")) for name in ("story", "plain"))
    return recorded_message(trace, plain)


TAB = Tab(TITLE, build)
