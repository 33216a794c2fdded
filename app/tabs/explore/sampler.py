"""Two tokens sampled many times with speculation and with plain decoding: counts for the page's
bars, and a verdict."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic

from specviz.base.codec import json_data
from specviz.base.progress import time_left
from specviz.config.run_config import RunConfig
from specviz.proof.sampled import RUNS, Sampled, sampling
from specviz.view.payload import page_json, settings_title

from ...service.queued_run import Note, Turn

FEWEST = 100  # runs, below which counts say little
STOPPED = page_json({"state": "stopped"})


def sample(turn: Turn, config: RunConfig) -> Iterator[str]:
    """A sampling as messages to the page; raises a `ValueError` if it cannot begin."""
    began = monotonic()
    # Every report has all counts so far: a page that missed one has lost nothing.
    for result in turn.compute(sampling, config, RUNS, tokens=config.max_new_tokens):
        if not result.runs:  # the distributions were read, which no run does again
            began = monotonic()
        about = {
            "state": "done" if result.runs == result.of else "running",
            "about": settings_title(config),
            "text": verdict(result),
            "left": time_left(monotonic() - began, result.runs, result.of),
        }
        yield page_json(json_data(result) | about)


def noted(item: str | Note) -> str:
    """What the page gets of an item of the stream: a message, or a note while it waits."""
    if isinstance(item, Note):
        return page_json({"state": "running", "text": item.text})
    return item


def verdict(result: Sampled) -> str:
    """Whether the counts of the run follow the target, beginning with yes or no, how plain decoding
    does."""
    if not result.runs:
        return "Reading the target's distributions."
    if result.runs < FEWEST:
        return f"Not decided yet: fewer than {FEWEST} runs say little."
    # Plain decoding is judged too: where it also deviates it is chance, or the test is too strict.
    answer = "Yes"
    relation = "agrees with"
    if result.deviates(result.speculated):
        answer = "No"
        relation = "deviates from"
    if result.runs < result.of:
        answer += ", so far"
    plain = "agrees"
    if result.deviates(result.plain):
        plain = "deviates too"
    return (
        f"{answer}: speculation {relation} the target's distribution (total variation distance "
        f"{result.distance(result.speculated):.3f}). Plain decoding {plain} "
        f"({result.distance(result.plain):.3f}). "
        f"{result.runs:,} exact samples differ by about {result.expected:.3f} too, by chance. The "
        "answer is no if fewer than 1 in 1,000 sets of exact samples would differ as much "
        "(chi-square test)."
    )
