"""The tab "Lessons": short lessons, most on recorded runs, for which no model is needed.

The page asks for one lesson at a time, so that its first paint waits for none of them.
"""

from __future__ import annotations

import json
from functools import cache

from specviz.base import codec
from specviz.record.trace import Trace
from specviz.view.payload import page_json, recorded_message
from specviz.view.web import asset

from ...service.service import RunService
from ..parts.frame import Tab
from ..parts.saving import saver
from ..parts.web import component
from . import accept, cost, drafts, exact, lossy, one_pass, races, sequoia, trees
from .lesson import Lesson
from .markdown import text_of, title_of

LESSONS = {
    module.LESSON.name: module.LESSON
    for module in (one_pass, accept, trees, sequoia, races, cost, drafts, exact, lossy)
}
# What older links call a lesson: a number, or a page of the Lab that is part of one now.
NUMBERED = (
    "one-pass one-pass one-pass accept trees sequoia sequoia races cost drafts drafts trees "
    "sequoia cost"
)
OLD = {str(number): name for number, name in enumerate(NUMBERED.split())}
OLD |= {"race": "races", "sender": "races"}


def build(service: RunService) -> None:
    """Lay out the tab."""
    template = asset("lessons/lessons.html").replace("<!-- stage -->", asset("stage/stage.html"))
    start = page_json({"lessons": [[name, title_of(name)] for name in LESSONS], "old": OLD})
    for name, lesson in LESSONS.items():
        for recording in lesson.recordings:
            service.runs.ship(f"{name}, {recording.name}", lesson.path(recording).read_text)
    functions = [open_lesson, saver(service)]
    component("lessons", template, start, server_functions=functions, elem_id="sv-lessons")


def open_lesson(name: object) -> str:
    """One lesson as JSON for the page; the first one for an unknown name, since anyone may ask."""
    return _lesson(name if isinstance(name, str) and name in LESSONS else next(iter(LESSONS)))


@cache
def _lesson(name: str) -> str:
    this = LESSONS[name]
    recorded = read(this)
    facts = this.facts(*recorded)
    runs = []
    for recording, trace in zip(this.recordings, recorded, strict=True):
        message = json.loads(recorded_message(trace, f"{name}, {recording.name}"))
        runs.append({"label": recording.label, "message": message})
    pictures = [*runs, *facts.figures]
    places = {"opens": facts.opens, "shows": facts.shows}
    text = text_of(name, facts.values)._asdict()
    return codec.dumps(text | places | {"pictures": pictures})


def read(this: Lesson) -> list[Trace]:
    """The recorded traces of a lesson, in the order in which `facts` takes them."""
    return [
        Trace.from_json(this.path(recording).read_text("utf-8")) for recording in this.recordings
    ]


TAB = Tab("Lessons", build, styles=("lessons/lessons",), query="lesson")
