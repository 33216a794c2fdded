"""The tab "Lessons": short lessons on recorded runs, for which no model is needed.

The page asks for one lesson at a time, so that its first paint waits for none of them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from functools import cache, partial
from types import ModuleType
from typing import Any

import gradio as gr

from specviz import Trace, codec
from specviz.files import TRACES, VIEWS, asset
from specviz.metrics import Counts
from specviz.player.payload import against_plain, head, step_payload
from specviz.registry import build as make

from ...parts.frame import Tab
from ...parts.run_store import STORE, save
from ...parts.web import starts
from . import (
    chain,
    heads,
    looking,
    not_paying,
    one_pass,
    residual,
    same_seed,
    sequoia,
    trees,
    who_drafts,
)
from .lesson import Look, Recording

LESSONS = (
    one_pass,
    chain,
    residual,
    trees,
    sequoia,
    looking,
    same_seed,
    not_paying,
    who_drafts,
    heads,
)
FOLDER = TRACES / "lessons"


def build(engine: Any) -> None:
    """Lay out the tab."""
    for number, module in enumerate(LESSONS):
        for recording in module.RECORDINGS:
            STORE.ship(run_name(number, recording), partial(path(module, recording).read_text, "utf-8"))
    gr.HTML(
        json.dumps([lesson.TITLE for lesson in LESSONS]),
        html_template=asset("lessons/lessons.html").replace("<!-- stage -->", asset("stage/stage.html")),
        js_on_load=starts("lessons"),
        server_functions=[lesson, save],
        elem_id="sv-lessons",
        apply_default_css=False,
    )


def lesson(number: Any) -> str:
    """One lesson as JSON, for the page.

    Args:
        number: from 0; anything else is brought into range, since anyone may ask.
    """
    valid = isinstance(number, int | float) and number == number
    return _lesson(int(min(max(number, 0), len(LESSONS) - 1)) if valid else 1)


@cache
def _lesson(number: int) -> str:
    module = LESSONS[number]
    found = read(module)
    written = module.write_lesson(*found)
    runs = [part._asdict() for part in written.shown] if written.view else _runs(number, module, found)
    looks = {"opens": place(written.opens), "shows": place(written.shows)}
    data = asdict(replace(written, shown=())) | looks | {"number": number, "title": module.TITLE, "runs": runs}
    del data["shown"]
    return codec.dumps(data)


def _runs(number: int, module: ModuleType, traces: list[Trace]) -> list[dict[str, Any]]:
    pairs = list(zip(module.RECORDINGS, traces, strict=True))
    plain = next((trace.counts for recording, trace in pairs if recording.plain), None)
    return [
        {"label": recording.label, "message": message(run_name(number, recording), recording, trace, plain)}
        for recording, trace in pairs
    ]


def run_name(number: int, recording: Recording) -> str:
    """The name of a lesson's recording in the store."""
    return f"lesson {number}, {recording.name}"


def place(look: Look) -> dict[str, Any]:
    """A place as the player knows it, where nodes go by a key that is text."""
    return asdict(look) | {"node": None if look.node is None else str(look.node)}


def message(name: str, recording: Recording, trace: Trace, plain: Counts | None) -> dict[str, Any]:
    """A recording as a message to the player; see `specviz.player.payload.message`."""
    about = head(trace.config, trace.prompt_text, trace.pair["name"]) | {"recorded": True, "show": 0}
    if recording.plain:
        about["title"] = f"Plain decoding, temperature {trace.config.temperature:g}, seed {trace.config.seed}"
    verifier = make("verifier", trace.config.verifier)
    steps = [step_payload(step, verifier) for step in trace.steps]
    numbers = {"figures": codec.plain(trace.counts.figures()), "speedup": against_plain(trace.counts, plain)}
    return {"run": name, "steps": steps, "head": about, "state": "done", **numbers}


def path(module: ModuleType, recording: Recording):
    """The file of a recording."""
    return FOLDER / f"{short(module)}-{recording.name}.json"


def short(module: ModuleType) -> str:
    """The name of a lesson in files and on the command line."""
    return module.__name__.rpartition(".")[2]


def observed(module: ModuleType):
    """The file of what a lesson recorded besides runs; None where it records nothing else."""
    return VIEWS / f"{short(module)}.json" if hasattr(module, "observe") else None


def read(module: ModuleType) -> list[Any]:
    """The recorded traces of a lesson, and then what else it recorded."""
    found: list[Any] = [Trace.from_json(path(module, recording).read_text("utf-8")) for recording in module.RECORDINGS]
    other = observed(module)
    return [*found, json.loads(other.read_text("utf-8"))] if other else found


TAB = Tab("Lessons", build, styles=("lessons/lessons", "lessons/views"), query="lesson")
