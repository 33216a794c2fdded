"""The recorded race that the tab opens with: plain decoding, a chain and Sequoia's tree, with the
weights on disk."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from specviz.base.files import TRACES
from specviz.config.run_config import RunConfig
from specviz.record.trace import Trace

from ...service.pair_ref import SMOLLM2, PairRef
from .entry import Entry
from .messages import of_traces

REF = PairRef(SMOLLM2, weights="disk")
PROMPT = "Why is the sky blue?"
TREE = RunConfig(PROMPT, "sequoia:size=32,depth=8", "sequoia", temperature=0, max_new_tokens=64)
CHAIN = RunConfig(PROMPT, "chain:depth=5", "sequoia", temperature=0, max_new_tokens=64)
CONFIGS = {"plain": TREE.autoregressive(), "chain": CHAIN, "tree": TREE}


def path(name: str) -> Path:
    """The file of a run of the race."""
    return TRACES / "race" / f"{name}.json"


@cache
def opening() -> str:
    """The race as a message to the page."""
    runs = [Trace.from_json(path(name).read_text("utf-8")) for name in CONFIGS]
    entries = [Entry(letter, run.config) for letter, run in zip("ABC", runs, strict=True)]
    return of_traces(entries, runs, badge="recorded")
