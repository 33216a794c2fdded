"""`replay`: a recorded run in the terminal."""

from __future__ import annotations

import argparse
import os
import sys

from ..files import printable
from ..trace import Trace
from .generate import paint, summary
from .options import read_trace

EXAMPLE = "run.json --steps"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace from `generate --trace` or the demo")
    parser.add_argument("--steps", action="store_true", help="print one line per step")


def run(args: argparse.Namespace) -> None:
    trace = read_trace(args.file)
    coloured = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    if args.steps:
        print_steps(trace)
    else:
        texts = (paint(step) if coloured else printable("".join(step.pieces)) for step in trace.steps)
        print(printable(trace.prompt_text) + "".join(texts))
    print(f"\n{summary(trace)}")


def print_steps(trace: Trace) -> None:
    """One line a step: how much of its tree was accepted, and what it wrote."""
    for step in trace.steps:
        end = "" if step.bonus is None else f", {'corrected' if step.corrected else 'bonus'} {step.pieces[-1]!r}"
        written = " ".join(repr(piece) for piece in step.pieces[: len(step.path)])
        drafted = step.drafted
        print(f"{step.index + 1:4}  {len(step.path)} of {drafted} drafted nodes accepted  {written}{end}")
