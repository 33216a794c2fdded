"""`doctor`: whether speculation pays in an engine that already runs, from its log or metrics."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from textwrap import fill

from ..base.codec import dumps
from ..base.files import MOST_TEXT, encoding_of, file_errors
from ..doctor import diagnose
from ..doctor.report import Report, rows_of
from ..doctor.window import NAMES
from .arguments import Arguments, Parser, option
from .display import say

EXAMPLE = "server.log --baseline 342.2"


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "sources",
        nargs="+",
        metavar="FILE",
        help="logs, responses or metrics of vLLM, llama.cpp, SGLang or TensorRT-LLM, results of "
        "their benchmarks, or an acceptance profile, of the same time; - for standard input. Of "
        "two scrapes of metrics, the difference counts",
    )
    baseline = parser.add_mutually_exclusive_group()
    option(
        baseline,
        "--baseline TOKENS_PER_S",
        "throughput without speculation, with as many requests, above 0 (default: none, and "
        "no verdict)",
        float,
    )
    option(baseline, "--baseline-log FILE", "its log without speculation, in place of --baseline")
    option(parser, "--json", "print one JSON object a line, for each engine and load")


def run(args: Arguments) -> None:
    baseline_text = None
    if args.baseline_log is not None:
        baseline_text = read_source(args.baseline_log)
    reports = diagnose("\n".join(map(read_source, args.sources)), args.baseline, baseline_text)
    if args.json:
        for report in reports:
            print(dumps(report.to_dict()))
    else:
        say("\n\n".join(map(text_of, reports)))


def text_of(report: Report) -> str:
    """A report as a table and sentences."""
    lines = [NAMES[report.engine], *(f"  {name:18} {value}" for name, value in rows_of(report))]
    for advice in report.advice:
        sentence = f"{advice.code}: {advice.text}"
        lines += ["", fill(sentence, 100, subsequent_indent="  ", break_on_hyphens=False)]
        if advice.flag:
            lines.append(f"  {advice.flag}")
    return "\n".join(lines)


def read_source(source: str) -> str:
    """The text of a file, or of standard input for "-"; bytes that are no text are replaced.

    Raises:
        ValueError: if it cannot be read, or is too large.
    """
    with file_errors(f"{source!r} cannot be read"):
        # Bytes, since a log may hold what is no text.
        with nullcontext(sys.stdin.buffer) if source == "-" else open(source, "rb") as file:
            # A pipe has no size: one byte more than is allowed says that it is longer.
            data = file.read(MOST_TEXT + 1)
        if len(data) > MOST_TEXT:
            raise OSError(f"it must have at most {MOST_TEXT:,} bytes. Use a shorter part of it")
    text = data.decode(encoding_of(data), errors="replace")
    # Text of two or four bytes a character without that mark; an engine's output is ASCII.
    return text.replace("\0", "")
