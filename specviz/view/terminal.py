"""Runs and results as lines of a terminal. No text of a model can command it: control characters
are replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from math import isnan
from typing import Any

from ..base.files import printable
from ..record.step import Step
from ..record.trace import Trace


def paint(step: Step) -> str:
    """The text of a step, on a terminal with colours: accepted green, corrected orange, bonus
    blue."""
    if not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        return printable("".join(step.pieces))
    colours = ["32"] * len(step.pieces)
    if step.bonus is not None:
        colours[-1] = "33" if step.corrected else "34"
    texts = zip(colours, map(printable, step.pieces), strict=True)
    return "".join(f"\x1b[{colour}m{text}\x1b[0m" for colour, text in texts)


def step_line(step: Step) -> str:
    """How much of a step's tree was accepted, and what it wrote."""
    end = (
        ""
        if step.bonus is None
        else f", {'corrected' if step.corrected else 'bonus'} {step.pieces[-1]!r}"
    )
    written = " ".join(repr(text) for text in step.pieces[: len(step.path)])
    return (
        f"{step.index + 1:4}  {len(step.path)} of {step.drafted} drafted nodes accepted  "
        f"{written}{end}"
    )


def summary(trace: Trace) -> str:
    """Tokens per target pass, acceptance rate and tokens per second in one line.

    >>> config = specviz.RunConfig("ab", "plain", "plain", max_new_tokens=6)
    >>> run = specviz.run(specviz.toy_pair(), config)
    >>> summary(run)[:43]
    '6 tokens in 6 target passes: 1.00 per pass,'
    """
    if not trace.steps:
        return f"no step; ended by {printable(trace.stop)}"
    rate, acceptance = trace.tokens_per_s, trace.acceptance
    compared = (
        "no node was compared"
        if isnan(acceptance)
        else f"{acceptance:.0%} of compared tokens accepted"
    )
    speed = "" if isnan(rate) else f", {rate:.0f} tokens/s"
    return (
        f"{len(trace.tokens)} tokens in {len(trace.steps)} target passes: "
        f"{trace.tokens_per_pass:.2f} per pass, "
        f"{compared}{speed}; ended by {printable(trace.stop)}"
    )


def text_table(rows: Sequence[dict[str, Any]], digits: int = 2) -> str:
    """Rows under their names, columns aligned; None is left empty, text is aligned left.

    Args:
        rows: column -> value, as far as a row has one.
        digits: of numbers that are not whole.

    >>> print(text_table([{"tree": "chain", "nodes": 5}, {"tree": "sequoia", "speedup": 1.5}]))
    tree     nodes  speedup
    chain        5
    sequoia            1.50
    """
    columns = []
    for name in dict.fromkeys(name for row in rows for name in row):
        values = ["" if (value := row.get(name)) is None else value for row in rows]
        cells = [
            name,
            *(
                f"{one:.{digits}f}" if isinstance(one, float) else printable(str(one))
                for one in values
            ),
        ]
        align = "<" if any(isinstance(one, str) and one for one in values) else ">"
        columns.append([f"{cell:{align}{max(map(len, cells))}}" for cell in cells])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))
