"""Recorded runs: every preset at three temperatures on the opening prompt, with weights in memory
and on disk."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from specviz.base.files import TRACES
from specviz.config.run_config import RunConfig
from specviz.record.trace import Trace
from specviz.view.payload import recorded_message

from ...parts.presets import PRESETS, TEMPERATURES, TREE
from ...service.pairs import TALES, WEIGHTS, PairRef

OPENING = RunConfig(
    "Once upon a time there was a little", temperature=0.6, seed=2, max_new_tokens=64
)


class Recording(NamedTuple):
    """A recorded run: the preset of its tree, its temperature and its pair."""

    preset: str
    temperature: float
    ref: PairRef

    @property
    def config(self) -> RunConfig:
        return replace(OPENING, builder=PRESETS[self.preset], temperature=self.temperature)

    @property
    def name(self) -> str:
        disk = "-disk" if self.ref.on_disk else ""
        return f"recorded-{self.preset.lower().replace(' ', '-')}-{self.temperature:g}{disk}"

    @property
    def path(self) -> Path:
        return TRACES / "explore" / f"{self.name.removeprefix('recorded-')}.json"

    def read(self) -> str:
        """The run as JSON."""
        return self.path.read_text("utf-8")

    def trace(self) -> Trace:
        return Trace.from_json(self.read())

    def message(self, ref: PairRef | None = None) -> str:
        """The run as a message to the page, whose menus show a pair `ref`."""
        return _message(self, ref or self.ref)


RECORDINGS = tuple(
    Recording(preset, temperature, PairRef(TALES, weights=weights))
    for weights in WEIGHTS
    for preset in PRESETS
    for temperature in TEMPERATURES
)


@cache
def available() -> dict[tuple[RunConfig, PairRef], Recording]:
    """The recordings that are there, by what they are recorded of."""
    there = [recording for recording in RECORDINGS if recording.path.exists()]
    return {(recording.config, recording.ref): recording for recording in there}


def find(config: RunConfig, ref: PairRef) -> Recording | None:
    """The recording of a configuration and a pair; None where there is none."""
    return available().get((config, ref))


@cache
def opening() -> Recording:
    """The run that the page opens with, on disk where that was recorded; the controls hold its
    settings."""
    refs = [PairRef(TALES, weights=weights) for weights in reversed(WEIGHTS)]
    choices = [Recording(TREE, OPENING.temperature, ref) for ref in refs]
    return next(recording for recording in choices if recording.path.exists())


@cache
def _message(recording: Recording, ref: PairRef) -> str:
    return recorded_message(
        recording.trace(), recording.name, "recorded", models=ref.models, weights=ref.weights
    )
