"""A run of Explore as messages to the page, which shows what it showed before until the first step
is there."""

from __future__ import annotations

from collections.abc import Iterator

from specviz.base.codec import json_data
from specviz.config.run_config import RunConfig
from specviz.measure.timing import ROUNDS
from specviz.proof.same_text import comparing, promised
from specviz.record.metrics import Counts
from specviz.view.payload import figures, head, message, worth_showing
from specviz.view.step_payload import step_payload

from ...service.decoding import batches, begin, timing
from ...service.failures import explain
from ...service.pair_ref import PairRef
from ...service.queued_run import Note, Turn
from ...service.run_store import GrowingRun, RunStore


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
        # What only the first message has.
        more = {"head": head(config, blank), "models": ref.models, "weights": ref.weights}
        try:
            for unsent in batches(steps):
                if not unsent:
                    yield None  # nothing to send, but a place where the run can be stopped
                    continue
                run.steps += unsent
                counts += Counts.of(unsent)
                # Written here, in the thread that decodes: the thread of the server answers all
                # visitors.
                payloads = [step_payload(step, config.verifier) for step in unsent]
                yield message(run.name, payloads, state="running", figures=figures(counts), **more)
                more = {}
        except Exception as error:
            if not run.steps:
                raise
            yield message(run.name, state="error", note=explain(error, "The run failed."))
            return
        # Set before timing: who stops that has a whole run all the same.
        run.ended = True
        yield message(run.name, state="running", show=worth_showing(run.steps))
        yield from timed(turn, run, counts)
        yield message(
            run.name, state="done", speedup=json_data(run.speedup), sum=run.trace.check_sum
        )
        if promised(config.verifier, config.temperature):
            text = "Comparing with plain decoding."
            yield message(run.name, same={"kind": "checking", "text": text})
            work = (comparing, config, list(run.trace.tokens))
            for found in turn.compute(*work, tokens=counts.tokens):
                same = found
                yield None
            kind = "equal" if same.equal else "differs"
            text = same.sentence(blank.pair.get("dtype"))
            yield message(run.name, same={"kind": kind, "text": text})
    finally:
        runs.end(run)


def timed(turn: Turn, run: GrowingRun, counts: Counts) -> Iterator[str | None]:
    """The messages of a run that is timed against plain decoding, round by round."""
    yield timing_message(run, counts)
    for speedup in timing(turn, run.blank.config, counts):
        # Between two rounds: the service may let others compute here.
        run.speedup = speedup or run.speedup
        yield timing_message(run, counts) if speedup else None


def timing_message(run: GrowingRun, counts: Counts) -> str:
    """The message on how many rounds a run was timed."""
    done = run.speedup.rounds if run.speedup else 0
    return message(
        run.name,
        state="running",
        note=f"Timing against plain decoding: {done} of {ROUNDS} rounds.",
        timing={"done": done, "of": ROUNDS},
        speedup=json_data(run.speedup),
        figures=figures(counts, run.speedup),
    )


def page_message(item: str | Note) -> str:
    """What the page gets of an item of a run's stream: a message, or a note while it waits."""
    if not isinstance(item, Note):
        return item
    return message("", state="loading", note=item.text, done=item.done)
