"""A run of Explore as messages to the page, which shows what it showed before until the first step
is there."""

from __future__ import annotations

from collections.abc import Iterator

from specviz.base.codec import json_data
from specviz.config.run_config import RunConfig
from specviz.measure.timing import ROUNDS
from specviz.proof.same_text import Comparison, comparing, promised
from specviz.record.metrics import Counts
from specviz.record.step import Step
from specviz.view.payload import figures, head, message, worth_showing
from specviz.view.step_payload import step_payload

from ...service.decoding import begin, is_due, timing
from ...service.failures import reason
from ...service.pair_ref import PairRef
from ...service.queued_run import Note, Turn
from ...service.run_store import GrowingRun, RunStore

IN_MEMORY = "The weights cannot be kept on disk here, so they are in memory."
COMPARED_AT_ONCE = 8  # tokens between two messages while a run is compared with plain decoding


def decode_run(turn: Turn, config: RunConfig, ref: PairRef, runs: RunStore) -> Iterator[str | None]:
    """A run as messages, with None between those steps after which there is none.

    One that fails on its way ends with a sentence; what was decoded before stays.

    Raises:
        ValueError: if it cannot even begin (the prompt is too long, say).
    """
    # What cannot begin fails here, before the page drops the picture that it shows.
    blank, steps = begin(turn, config)
    run = runs.begin(blank)
    try:
        counts = Counts()
        unsent = list[Step]()
        # What only the first message has.
        more = {"head": head(config, blank), "models": ref.models, "weights": ref.weights}
        if ref.on_disk and blank.pair.get("offload") is None:
            more["note"] = IN_MEMORY

        def say(state: str, **facts: object) -> str:
            # Written here, in the thread that decodes: the thread of the server answers all
            # visitors.
            payloads = [step_payload(step, config.verifier) for step in unsent]
            return message(run.name, payloads, state=state, figures=figures(counts), **facts)

        try:
            for step in steps:
                run.steps.append(step)
                unsent.append(step)
                counts += Counts.of((step,))
                if not is_due(unsent):
                    yield None  # nothing to send, but a place where the run can be stopped
                    continue
                yield say("running", **more)
                unsent.clear()
                more = {}
        except Exception as error:
            if not run.steps:
                raise
            yield say("error", **more | {"note": f"The run failed. {reason(error)}"})
            return
        # Set before timing: who stops that has a whole run all the same.
        run.ended = True
        if unsent:
            yield say("running", **more)
        yield from timed(turn, run, counts)
        yield message(run.name, state="done", speedup=json_data(run.speedup))
        if promised(config.verifier, config.temperature):
            work = (comparing, config, list(run.trace.tokens))
            for same in turn.compute(*work, tokens=counts.tokens):
                yield compared(run, same, counts.tokens)
    finally:
        runs.end(run)


def timed(turn: Turn, run: GrowingRun, counts: Counts) -> Iterator[str | None]:
    """The messages of a run that is timed against plain decoding, round by round."""
    note = "Timing the run against plain decoding"
    yield message(
        run.name,
        state="running",
        note=f"{note}, {ROUNDS} rounds.",
        timing={"done": 0, "of": ROUNDS},
        show=worth_showing(run.steps),
    )
    for speedup in timing(turn, run.blank.config, counts):
        # Between two rounds: the service may let others compute here.
        if speedup is None:
            yield None
            continue
        run.speedup = speedup
        yield message(
            run.name,
            state="running",
            note=f"{note}: {speedup.rounds} of {ROUNDS} rounds.",
            timing={"done": speedup.rounds, "of": ROUNDS},
            speedup=json_data(speedup),
            figures=figures(counts, speedup),
        )


def compared(run: GrowingRun, same: Comparison, total: int) -> str | None:
    """The message on how far a run's text is that of plain decoding."""
    if same.equal and same.compared < total:
        if same.compared % COMPARED_AT_ONCE != 1:
            return None
        text = f"Comparing with plain decoding: {same.compared} of {total} tokens."
        return message(run.name, same={"kind": "checking", "text": text})
    # All tokens were compared, or one differs: this is the last word.
    text = same.sentence(run.blank.pair.get("dtype"))
    return message(run.name, same={"kind": "equal" if same.equal else "differs", "text": text})


def page_message(item: str | Note) -> str:
    """What the page gets of an item of a run's stream: a message, or a note while it waits."""
    if not isinstance(item, Note):
        return item
    return message("", state="loading", note=item.text, done=item.done)
