"""Files of visitors: a saved run, shown or exported, and the log of an engine, read.

Without gradio, since another process computes it.
"""

from __future__ import annotations

from typing import Any

from specviz import Trace
from specviz.codec import dumps
from specviz.doctor import NAMES, Report, diagnose, rows_of
from specviz.doctor.replay import replayed
from specviz.player import FORMATS
from specviz.player.payload import recorded_message

MOST_LOG = 4_000_000  # bytes
VERDICTS = {True: ("pays", "measured"), False: ("does not pay", "projection"), None: ("verdict open", "")}


def shown(text: str, name: str) -> tuple[str, str]:
    """A run from a file as a message to the page, and as JSON.

    Args:
        text: of the file, from a stranger.
        name: of the run on the page.

    Raises:
        ValueError: if it is no run.
    """
    trace = Trace.from_json(text)
    return recorded_message(trace, name=name, badge="opened from a file"), trace.to_json()


def exported(text: str, kind: str) -> str:
    """A run in one of `FORMATS`."""
    return FORMATS[kind](Trace.from_json(text))


def read_log(asked: Any) -> str:
    """{"reports"} of a text, as JSON.

    Args:
        asked: {"text": from a stranger, "baseline": tokens per second as text, "" for none}.

    Raises:
        ValueError: if there is nothing to report on.
    """
    asked = asked if isinstance(asked, dict) else {}
    text, written = asked.get("text"), str(asked.get("baseline") or "").strip()[:40]
    if not isinstance(text, str) or len(text.encode(errors="replace")) > MOST_LOG:
        raise ValueError(f"A log must be text of at most {MOST_LOG / 1e6:g} MB. Use a part of it.")
    try:
        baseline = float(written) if written else None
    except ValueError:
        raise ValueError("Plain decoding must be a number of tokens per second, or empty.") from None
    return dumps({"reports": [_for_page(report) for report in diagnose(text, baseline)]}).replace("<", "\\u003c")


def _for_page(report: Report) -> dict[str, Any]:
    silent = report.advice[0].code == "no-speculation-seen"
    verdict, kind = ("no speculation seen", "") if silent else VERDICTS[report.pays]
    longest = max(report.windows, key=lambda one: len(one.per_step)).per_step
    files = [{"label": "JSON", "name": "doctor.json", "text": dumps(report.to_dict())}]
    notes = list(report.notes)
    if longest:
        try:
            run = replayed(longest, NAMES[report.engine]).to_json()
            files.append({"label": "Run", "name": "run.json", "text": run})
            notes.append(
                "The steps of the longest request can be saved as a run; open it in the tab Explore to step through."
            )
        except ValueError:
            pass
    return {
        "title": NAMES[report.engine], "verdict": verdict, "kind": kind, "rows": rows_of(report),
        "chart": _chart(report), "advice": report.to_dict()["advice"], "notes": notes, "files": files,
    }  # fmt: skip


def _chart(report: Report) -> dict[str, Any] | None:
    """The speedup at every length, or the tokens of a step where there is no baseline."""
    cuts = report.lengths
    if len(cuts) < 2:
        return None
    low, high = ([(one.length, getattr(one, f"speedup_{end}")) for one in cuts] for end in ("low", "high"))
    if report.step_price is None:
        tokens = [(one.length, one.acceptance_length) for one in cuts]
        y, series = "tokens per step", [{"name": "with the bonus token", "points": tokens, "look": "line"}]
    else:
        y, plain = "speedup over plain decoding", [(1, 1), (len(cuts), 1)]
        series = [{"name": "low end: the extra time is fixed", "points": low, "look": "line"},
                  {"name": "high end: it grows with the length", "points": high, "look": "line"}]  # fmt: skip
        series = [{"name": "expected", "points": low, "look": "line"}] if low == high else series
        series.append({"name": "plain decoding", "points": plain, "look": "dashes"})
    return {"kind": "lines", "x": "draft tokens per step", "y": y, "series": series, "log_x": False, "log_y": False}
