"""Recorded runs of the two pairs that the page offers, with weights in memory and on disk: every
preset at three temperatures on their opening prompts, and what the page opens with on their other
examples."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from specviz.base.files import TRACES
from specviz.config.run_config import RunConfig
from specviz.record.trace import Trace
from specviz.view.payload import recorded_message

from ...service.pair_ref import SMOLLM2, TALES, WEIGHTS, PairRef
from ..parts.presets import PRESETS, TEMPERATURES, TREE
from .prompts import EXAMPLES

OPENINGS = {  # by pair, the one that the page opens with first
    target: RunConfig(example["opening"], temperature=0.6, seed=example["seed"], max_new_tokens=64)
    for target, example in EXAMPLES.items()
}
OPENING = OPENINGS[SMOLLM2]


class Recording(NamedTuple):
    """A recorded run.

    Args:
        preset: of its tree.
        temperature: of the target.
        ref: its pair.
        example: the name of its prompt; "" for the one that the page opens with.
    """

    preset: str
    temperature: float
    ref: PairRef
    example: str = ""

    @property
    def config(self) -> RunConfig:
        opening = OPENINGS[self.ref.target]
        config = replace(opening, builder=PRESETS[self.preset], temperature=self.temperature)
        if self.example:
            config = replace(config, prompt=EXAMPLES[self.ref.target]["prompts"][self.example])
        return config

    @property
    def name(self) -> str:
        # Links and saved pages name recordings, so names may not change.
        pair = "" if self.ref.target == TALES else f"{self.ref.target}-"  # as older links have it
        disk = ""
        if self.ref.on_disk:
            disk = "-disk"
        example = f"{self.example} " if self.example else ""
        preset = f"{example}{self.preset}".lower().replace(" ", "-")
        return f"recorded-{pair}{preset}-{self.temperature:g}{disk}"

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
    Recording(preset, temperature, PairRef(target, weights=weights))
    for target in OPENINGS
    for weights in WEIGHTS
    for preset in PRESETS
    for temperature in TEMPERATURES
) + tuple(
    Recording(TREE, OPENING.temperature, PairRef(target, weights=weights), example)
    for target in OPENINGS
    for weights in WEIGHTS
    for example, prompt in EXAMPLES[target]["prompts"].items()
    if prompt != EXAMPLES[target]["opening"]
)


BY_SETTINGS = {(one.config, one.ref): one for one in RECORDINGS}


def find(config: RunConfig, ref: PairRef) -> Recording | None:
    """The recording of a configuration and a pair; None where there is none."""
    return BY_SETTINGS.get((config, ref))


def opening(target: str = SMOLLM2, weights: str = "disk") -> Recording:
    """The run with which a page opens whose default pair has this target, whose weights are there;
    SmolLM2's where none of the target's is recorded."""
    if target not in OPENINGS:
        target = SMOLLM2
    return Recording(TREE, OPENINGS[target].temperature, PairRef(target, weights=weights))


@cache
def _message(recording: Recording, ref: PairRef) -> str:
    return recorded_message(
        recording.trace(),
        recording.name,
        "recorded",
        recording.config,
        models=ref.models,
        weights=ref.weights,
    )
