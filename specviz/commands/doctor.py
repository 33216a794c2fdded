"""`doctor`: whether speculation pays in an engine that already runs, from its log or metrics."""

from __future__ import annotations

import argparse
from textwrap import fill

from ..codec import dumps
from ..doctor import NAMES, Report, diagnose, rows_of
from ..doctor.sources import read_source
from ..files import printable

EXAMPLE = "server.log --baseline 342.2"
WIDTH = 40  # characters of the longest bar


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "source", metavar="FILE",
        help="a log, metrics or responses of vLLM, llama.cpp, SGLang or TensorRT-LLM; - for standard input. "
        "Of two scrapes one after the other, the difference counts",
    )  # fmt: skip
    parser.add_argument(
        "--baseline", type=float, metavar="TOKENS_PER_S",
        help="throughput without speculation, with as many requests, above 0 (default: none, and no verdict)",
    )  # fmt: skip
    parser.add_argument(
        "--baseline-log",
        metavar="FILE",
        help="the engine's log without speculation, in place of --baseline (default: none)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object a line, for each engine")


def run(args: argparse.Namespace) -> None:
    if args.baseline is not None and args.baseline_log is not None:
        raise ValueError("--baseline and --baseline-log cannot be combined. Omit one of them.")
    plain = None if args.baseline_log is None else read_source(args.baseline_log)
    reports = diagnose(read_source(args.source), args.baseline, plain)
    for place, report in enumerate(reports):
        print(dumps(report.to_dict()) if args.json else "\n" * (place > 0) + printable(text_of(report)))


def text_of(report: Report) -> str:
    """A report as a table, a chart and sentences."""
    lines = [NAMES[report.engine], *(f"  {name:18} {value}" for name, value in rows_of(report))]
    lines += ["", *chart_of(report)] if len(report.lengths) > 1 else []
    for advice in report.advice:
        lines += ["", _filled(f"{advice.code}: {advice.text}"), *([f"  {advice.flag}"] if advice.flag else [])]
    return "\n".join([*lines, *(f"\n{_filled(note)}" for note in report.notes)])


def chart_of(report: Report) -> list[str]:
    """A bar for each length: its speedup, or the tokens of a step where there is no baseline."""
    known = report.step_price is not None
    ends = [
        (one.speedup_low or 0.0, one.speedup_high or 0.0) if known else (one.acceptance_length,) * 2
        for one in report.lengths
    ]
    scale = WIDTH / (max(high for _, high in ends) or 1.0)
    lines = [f"  {'length':>6}  {'tokens':>6}  {'speedup' if known else ''}".rstrip()]
    for one, (low, high) in zip(report.lengths, ends, strict=True):
        bar = "█" * round(low * scale) + "░" * (round(high * scale) - round(low * scale))
        band = (f"{low:.2f}" if f"{low:.2f}" == f"{high:.2f}" else f"{low:.2f} to {high:.2f}") if known else ""
        lines.append(f"  {one.length:6}  {one.acceptance_length:6.2f}  {f'{band:13}' if known else ''} {bar}")
    if any(low != high for low, high in ends):
        lines.append(
            "  ░ the log leaves open whether a step's extra time is fixed (low) or grows with the length (high)"
        )
    return lines


def _filled(text: str) -> str:
    return fill(text, 100, subsequent_indent="  ", break_on_hyphens=False)
