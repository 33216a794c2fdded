"""Recorded runs: every preset at three temperatures on the opening prompt, with weights in memory
and on disk."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

from specviz.base.files import TRACES
from specviz.config.run_config import RunConfig
from specviz.record.trace import Trace
from specviz.view.payload import recorded_message

from ...machine.models import EMBEDDED, ON_DISK
from ...parts.presets import PRESETS, TEMPERATURES, TREE
from ...parts.run_store import STORE

OPENING = RunConfig(
    "Once upon a time there was a little", temperature=0.6, seed=2, max_new_tokens=64
)


class Recording(NamedTuple):
    """A recorded run: the preset of its tree, its temperature and the title of its pair."""

    preset: str
    temperature: float
    title: str

    @property
    def config(self) -> RunConfig:
        return replace(OPENING, builder=PRESETS[self.preset], temperature=self.temperature)

    @property
    def name(self) -> str:
        disk = "-disk" if self.title.endswith(ON_DISK) else ""
        return f"recorded-{self.preset.lower().replace(' ', '-')}-{self.temperature:g}{disk}"

    @property
    def path(self) -> Path:
        return TRACES / "explore" / f"{self.name.removeprefix('recorded-')}.json"

    def trace(self) -> Trace:
        return Trace.from_json(self.path.read_text("utf-8"))

    def message(self, models: str | None = None) -> str:
        """The run as a message to the page, whose menus call its pair `models`."""
        return _message(self, models)


RECORDINGS = tuple(
    Recording(preset, temperature, title)
    for title in (EMBEDDED, EMBEDDED + ON_DISK)
    for preset in PRESETS
    for temperature in TEMPERATURES
)


@cache
def available() -> dict[tuple[RunConfig, str], Recording]:
    """The recordings that are there, by what they are recorded of."""
    return {(one.config, one.title): one for one in RECORDINGS if one.path.exists()}


def find(config: RunConfig, title: str) -> Recording | None:
    """The recording of a configuration and a pair; None where there is none."""
    return available().get((config, title))


@cache
def opening() -> Recording:
    """The run that the page opens with, on disk where that was recorded; the controls hold its
    settings."""
    choices = [
        Recording(TREE, OPENING.temperature, title) for title in (EMBEDDED + ON_DISK, EMBEDDED)
    ]
    return next(one for one in choices if one.path.exists())


@cache
def _message(recording: Recording, models: str | None) -> str:
    return recorded_message(recording.trace(), recording.name, "recorded", models)


for one in RECORDINGS:
    STORE.ship(one.name, partial(one.path.read_text, "utf-8"))
