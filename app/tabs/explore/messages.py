"""A run of Explore as messages to the page, which shows what it showed before until the first step
is there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from specviz.base.codec import json_data
from specviz.config.run_config import RunConfig, compatible
from specviz.measure.timing import ROUNDS
from specviz.record.metrics import Counts
from specviz.view.payload import described, figures, head, message, step_payload, worth_showing

from ...machine.engine import Engine
from ...parts.decoding import Update, decode
from ...parts.run_store import STORE, StoredRun, new_name

COMPARED_AT_ONCE = 8  # tokens between two messages while a run is compared with plain decoding


def play(engine: Engine, config: RunConfig, title: str | None = None) -> Iterator[str]:
    """A run as messages. One that fails on its way ends with a sentence; what was decoded before
    stays.

    Raises:
        ValueError: if it cannot even begin (the prompt is too long, say).
    """
    compatible(config).required()
    title = title or engine.titles[0]
    yield from decode(engine, [config], title, RunMessages(config, title), compare=True)


class RunMessages:
    """Makes messages of the updates of a run on the pair of a title."""

    stored: StoredRun

    def __init__(self, config: RunConfig, title: str) -> None:
        self.config, self.title, self.name, self.counts = config, title, new_name("run"), Counts()
        self.first: dict[str, Any] = {}  # what the message with the first step also brings

    def __call__(self, update: Update) -> str | None:
        say = partial(message, self.name)
        if update.error and not update.begun:
            raise ValueError(update.error)
        if update.note:
            return message("", state="loading", note=update.note)
        if update.error:
            return say(state="error", note=update.error)
        if update.blank:
            match, blank = compatible(self.config), update.blank
            lossy, about = None if match.lossless else match.reason, described(blank.pair)
            first = head(self.config, blank.prompt_text, about, lossy, blank.pair.get("offload"))
            self.first = {"head": first}
            self.stored = STORE.begin(self.name, blank)
            return None
        if update.steps:
            more, self.first = self.first | {"models": self.title} if self.first else {}, {}
            self.stored.steps += update.steps
            self.counts += Counts.of(update.steps)
            payloads = [step_payload(step, self.config.verifier) for step in update.steps]
            return say(payloads, state="running", figures=figures(self.counts), **more)
        if update.trace:
            self.stored.ended = True
            note = f"Timing the run against plain decoding, {ROUNDS} rounds."
            show = worth_showing(self.stored.steps)
            return say(state="running", note=note, timing={"done": 0, "of": ROUNDS}, show=show)
        if update.speedup:
            self.stored.speedup, done = update.speedup, update.speedup.rounds
            note = f"Timing the run against plain decoding: {done} of {ROUNDS} rounds."
            timing = {"done": done, "of": ROUNDS}
            return say(state="running", note=note, timing=timing, speedup=json_data(update.speedup))
        if update.same:
            return self._same(update)
        return say(state="done", speedup=json_data(self.stored.speedup))

    def _same(self, update: Update) -> str | None:
        same, total = update.same, self.counts.tokens
        assert same
        if same.equal and same.compared < total:
            if same.compared % COMPARED_AT_ONCE != 1:
                return None
            text = f"Comparing with plain decoding: {same.compared} of {total} tokens."
            return message(self.name, same={"kind": "checking", "text": text})
        text = same.sentence(self.stored.blank.pair.get("dtype") if self.stored.blank else None)
        return message(self.name, same={"kind": "equal" if same.equal else "differs", "text": text})
