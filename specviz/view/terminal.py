"""Runs and results as lines of a terminal. No text of a model can command it: control characters
are replaced."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from itertools import chain
from math import isnan

from ..base.codec import JsonObject
from ..base.files import printable
from ..record.step import Step
from ..record.trace import Trace


def paint(step: Step) -> str:
    """The text of a step, on a terminal with colours: accepted green, corrected orange, bonus
    blue."""
    if not (sys.stdout.isatty() or "FORCE_COLOR" in os.environ):
        return printable("".join(step.emitted_texts))
    # All of a step's tokens were accepted but the last, if the target added it.
    colours = ["32"] * len(step.emitted_texts)
    if step.bonus is not None:
        colours[-1] = "33" if step.corrected else "34"
    texts = zip(colours, map(printable, step.emitted_texts), strict=True)
    return "".join(f"\x1b[{colour}m{text}\x1b[0m" for colour, text in texts)


def step_line(step: Step) -> str:
    """How much of a step's tree was accepted, and what it wrote."""
    step = step.written
    written = " ".join(map(repr, step.emitted_texts[: len(step.path)]))
    line = (
        f"{step.index + 1:4}  {len(step.path)} of {step.drafted} drafted nodes accepted  {written}"
    )
    if step.bonus is not None:
        line += f", {'corrected' if step.corrected else 'bonus'} {step.emitted_texts[-1]!r}"
    return line


def summary(trace: Trace) -> str:
    """Tokens per target pass, acceptance rate and tokens per second in one line.

    >>> config = specviz.RunConfig("ab", "plain", "plain", max_new_tokens=6)
    >>> run = specviz.run(specviz.toy_pair(), config)
    >>> summary(run)[:43]
    '6 tokens in 6 target passes: 1.00 per pass,'
    """
    if not trace.steps:
        return f"no step; ended by {printable(trace.stop)}"
    counts = trace.counts
    line = f"{counts.tokens} tokens in {counts.passes} target passes: "
    line += f"{counts.tokens_per_pass:.2f} per pass, "
    if counts.compared:
        line += f"{counts.acceptance:.0%} of compared tokens accepted"
    else:
        line += "no node was compared"
    if not isnan(counts.tokens_per_s):
        line += f", {counts.tokens_per_s:.0f} tokens/s"
    return f"{line}; ended by {printable(trace.stop)}"


def text_table(rows: Iterable[JsonObject], digits: int = 2, markdown: bool = False) -> str:
    """Rows under their names, columns aligned; None is left empty, text is aligned left.

    Args:
        rows: column -> value, as far as a row has one.
        digits: of numbers that are not whole.
        markdown: as a table of a document.

    >>> print(text_table([{"tree": "chain", "nodes": 5}, {"tree": "sequoia", "speedup": 1.5}]))
    tree     nodes  speedup
    chain        5
    sequoia            1.50
    """
    rows = list(rows)
    # Each column is made as a whole, since its widest cell is as wide as all of it.
    columns = []
    for name in dict.fromkeys(chain.from_iterable(rows)):
        cells = [name]
        align = ">"
        for row in rows:
            value = row.get(name)
            if isinstance(value, float):
                cells.append(f"{value:.{digits}f}")
            else:
                cells.append("" if value is None else printable(str(value)))
            if isinstance(value, str) and value:
                align = "<"
        if markdown:
            cells.insert(1, "---:" if align == ">" else "---")
            columns.append(cells)
        else:
            columns.append([f"{cell:{align}{max(map(len, cells))}}" for cell in cells])
    lines = zip(*columns, strict=True)
    if markdown:
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)
    return "\n".join("  ".join(line).rstrip() for line in lines)
