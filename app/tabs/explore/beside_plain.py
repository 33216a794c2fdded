"""A finished run beside plain decoding, as messages: how much faster it was, and whether the texts agree."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Any

from specviz.benchmarks.trials import ROUNDS
from specviz.codec import plain
from specviz.player.payload import message, worth_showing
from specviz.proof.same_text import Comparison
from specviz.trace import PairedSpeedup

from ...parts.run_store import StoredRun

COMPARED_AT_ONCE = 8  # tokens between two messages while a run is compared with plain decoding


def timed(run: str, turns: Iterator[PairedSpeedup | None], kept: StoredRun) -> Generator[str, None, dict[str, Any]]:
    """Time a finished run against plain decoding, as messages; returns the content of the last one.

    Args:
        run: its name on the page.
        turns: from `in_turns`.
        kept: the run in the store, which keeps what was measured.
    """
    result: dict[str, Any] = {}
    note = f"Timing the run against plain decoding, {ROUNDS} rounds."
    yield message(run, state="running", note=note, timing={"done": 0, "of": ROUNDS}, show=worth_showing(kept.steps))
    for news in turns:
        if news is not None:
            kept.speedup = news
            result = {"speedup": plain(news)}
            note = f"Timing the run against plain decoding: {news.rounds} of {ROUNDS} rounds."
            timing = {"done": news.rounds, "of": ROUNDS}
            yield message(run, state="running", note=note, timing=timing, **result)
    return result


def same(run: str, compared: Iterator[Comparison], written: int, dtype: str | None = None) -> Iterator[str]:
    """Plain decoding beside a finished run, as messages; it stops within a few passes after the reader stops.

    Args:
        run: its name on the page.
        compared: from `comparing`.
        written: how many tokens there are to compare.
        dtype: the models' number format.
    """
    result = None
    for result in compared:
        if result.equal and result.compared % COMPARED_AT_ONCE == 1:
            text = f"Comparing with plain decoding: {result.compared} of {written} tokens."
            yield message(run, same={"kind": "checking", "text": text})
    if result is not None:
        yield message(run, same={"kind": "equal" if result.equal else "differs", "text": result.sentence(dtype)})
