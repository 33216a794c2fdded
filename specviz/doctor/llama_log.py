"""llama.cpp's server log: "eval time", "draft acceptance" and "statistics" of each request.

Sources: ggml-org/llama.cpp, tools/server/server-context.cpp (`print_timings`), common/speculative.cpp
(`common_speculative_print_stats`) and docs/speculative.md. "statistics" counts since the server was started. Older
versions print "draft acceptance rate" without a mean length: there a step is any pass after the first token, whether it
had a draft or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from .window import Window, lines_with

SAYS = "llama.cpp's log (draft acceptance, statistics)"
NUMBER, WHOLE = r"(\d{1,12}(?:\.\d{1,9})?)", r"(\d{1,12})"
TIME = re.compile(rf"(?<!prompt )eval time = {{0,20}}{NUMBER} ms / {{0,20}}{WHOLE} (?:tokens|runs)")
DRAFT = re.compile(
    rf"draft acceptance(?: rate)? = {{0,20}}{NUMBER} \( {{0,20}}{WHOLE} accepted / {{0,20}}{WHOLE} generated"
)
MEAN = re.compile(rf"mean (?:acceptance length|len) = {{0,20}}{NUMBER}")
RATES = re.compile(r"(?:rate per position|acc rate/pos) = \((\d\.\d{1,9}(?:, \d\.\d{1,9}){0,127})\)")
KIND = re.compile(r"statistics {1,40}([\w-]{1,40}):")
COUNT = re.compile(rf"#(gen drafts|gen tokens|acc tokens) = {{0,20}}{WHOLE}")
SPENT = re.compile(rf"dur\(b,g,a\) = {NUMBER}, {NUMBER}, ")
TOKEN_BY_TOKEN = {"draft", "draft-simple", "draft-eagle3", "draft-mtp"}  # the others draft all of a step at once


def read(text: str) -> Iterator[Window]:
    """A window for each request; one for the whole log if it only has statistics."""
    windows: list[Window] = []
    totals: dict[str, str] = {}
    for line in lines_with(text, "eval time =", "draft acceptance", "statistics "):
        if found := TIME.search(line):
            seconds, tokens = float(found[1]) / 1000, float(found[2])
            if seconds and tokens > 1:
                windows.append(Window("llama.cpp", throughput=tokens / seconds, seconds=seconds))
        elif found := DRAFT.search(line):
            timed = windows.pop() if windows and not windows[-1].speculates else Window("llama.cpp")
            windows.append(_request(timed, float(found[2]), float(found[3]), line))
        elif (kind := KIND.search(line)) and "#gen tokens" in line:
            totals[kind[1]] = line
    counts = {kind: {name: float(value) for name, value in COUNT.findall(line)} for kind, line in totals.items()}
    drafted, drafts = (sum(one.get(name, 0.0) for one in counts.values()) for name in ("gen tokens", "gen drafts"))
    if drafted and drafts and not any(one.speculates for one in windows):
        accepted = sum(one.get("acc tokens", 0.0) for one in counts.values())
        rates = [RATES.search(line) for line in totals.values()]
        per_position = _rates(rates[0]) if len(rates) == 1 else ()
        windows.append(Window("llama.cpp", drafts, drafted, accepted, per_position=per_position))
    share = _milliseconds(totals, counts) / 1000 / drafted if drafted else 0.0
    for one in windows:
        if one.steps is None and one.drafted and drafts and drafted:
            one = replace(one, steps=max(1.0, round(one.drafted * drafts / drafted)))
        if share and one.drafted and one.seconds:
            one = replace(one, draft_share=min(1.0, share * one.drafted / one.seconds))
        yield one


def _request(timed: Window, accepted: float, drafted: float, line: str) -> Window:
    """A request, whose passes are counted from its tokens where no mean length is printed."""
    mean = MEAN.search(line)
    if mean and float(mean[1]) > 1 and accepted:
        steps: float | None = float(max(1, round(accepted / (float(mean[1]) - 1))))
    elif timed.seconds and timed.throughput:
        steps = max(1.0, round(timed.throughput * timed.seconds) - 1 - accepted)
    else:
        steps = None
    return replace(timed, steps=steps, drafted=drafted, accepted=accepted, per_position=_rates(RATES.search(line)))


def _rates(found: re.Match[str] | None) -> tuple[float, ...]:
    return tuple(map(float, found[1].split(", "))) if found else ()


def _milliseconds(totals: dict[str, str], counts: dict[str, dict[str, float]]) -> float:
    """The time of all drafts, if each of their tokens took its own; 0 where that is not known."""
    used = [kind for kind, one in counts.items() if one.get("gen tokens")]
    spent = [SPENT.search(totals[kind]) for kind in used]
    known = all(kind in TOKEN_BY_TOKEN and found for kind, found in zip(used, spent, strict=True))
    return sum(float(found[2]) for found in spent if found) if known else 0.0
