"""SGLang's log: lines "Decode batch".

Source: sgl-project/sglang, python/sglang/srt/observability/scheduler_metrics_mixin.py (`report_decode_stats`), before
2026 python/sglang/srt/managers/scheduler_metrics_mixin.py. The length includes the bonus token. The rate is accepted
draft tokens over drafted ones; until April 2026 it counted the bonus token in both, (accepted + 1) / (drafted + 1).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from math import ceil, floor

from .window import Window, lines_with

SAYS = "SGLang's log (Decode batch)"
MARK = "Decode batch"
FIELDS = {
    name: re.compile(pattern)
    for name, pattern in {
        "running": r"#running-req: (\d{1,9})",
        "length": r"accept len: (\d{1,6}\.\d{1,9})",
        "rate": r"accept rate: (\d{1,3}\.\d{1,9})",
        "throughput": r"gen throughput \(token/s\): (\d{1,9}(?:\.\d{1,9})?)",
        "graphs": r"[a-z]{3,5} graph: (True|False)",
    }.items()
}
LONGEST = 64  # draft tokens of a step


def read(text: str) -> Iterator[Window]:
    """A window for each line."""
    windows, printed = [], []
    for line in lines_with(text, MARK):
        found = {name: match[1] for name, pattern in FIELDS.items() if (match := pattern.search(line))}
        throughput, running = float(found.get("throughput", 0)), float(found.get("running", 0))
        length = float(found["length"]) if "length" in found else None
        if not throughput or not running or length == 0:
            continue
        graphs = found["graphs"] == "True" if "graphs" in found else None
        windows.append(
            Window("sglang", acceptance_length=length, running=running, throughput=throughput, graphs=graphs)
        )
        if length is not None and "rate" in found:
            printed.append((length, float(found["rate"])))
    draft_length, note = understood(printed)
    for one in windows:
        yield replace(one, draft_length=draft_length, note=note) if one.speculates else one


def understood(printed: Iterable[tuple[float, float]]) -> tuple[float | None, str]:
    """How many tokens each step drafted, from printed (acceptance length, acceptance rate), and how the rate was read.

    Returns:
        the number, None where the rates do not say; and a sentence, "" where there is nothing to say.
    """
    printed = [pair for pair in printed if pair[1] > 0.005]
    if not printed:
        return None, ""
    new, old = _lengths(printed, 0), _lengths(printed, 1)
    if len(new) == 1 and not old:
        return float(*new), ""
    if len(old) == 1 and not new:
        return float(*old), (
            "The printed acceptance rate counts the bonus token, (accepted + 1) / (drafted + 1), as SGLang did until "
            "April 2026. The rate here does not count it."
        )
    if new and old:
        return None, "The printed acceptance rate fits both of SGLang's definitions, so it is not used."
    return None, "The printed acceptance rates fit no fixed number of draft tokens per step, so they are not used."


def _lengths(printed: list[tuple[float, float]], bonus: int) -> set[int]:
    """Numbers of draft tokens per step with which all printed pairs agree, as far as two decimals say.

    Args:
        printed: acceptance lengths and rates.
        bonus: 1 if the rate counts the bonus token.
    """
    fit = set(range(1, LONGEST + 1))
    for length, rate in printed:
        kept = length - 1 + bonus
        low, high = (kept - 0.005) / (rate + 0.005) - bonus, (kept + 0.005) / (rate - 0.005) - bonus
        fit &= set(range(max(1, ceil(low)), min(LONGEST, floor(high)) + 1))
    return fit
