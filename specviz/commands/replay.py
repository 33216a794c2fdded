"""`replay`: a recorded run in the terminal, as a page that plays offline, or as a graph."""

from __future__ import annotations

from ..base.files import MOST_TRACE, check_output, printable, read_text, write_text
from ..record.trace import Trace
from ..view import FORMATS
from ..view.terminal import paint, step_line, summary
from .arguments import Arguments, Parser, option
from .display import say

EXAMPLE = "run.json --html run.html"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace from `generate --trace` or the demo")
    option(parser, "--steps", "print one line per step")
    option(parser, "--html OUT", "write one HTML file that plays offline")
    option(parser, "--graphml OUT", "write all trees as one graph, for networkx, Gephi or yEd")


def run(args: Arguments) -> None:
    outputs = {name: path for name in FORMATS if (path := getattr(args, name)) is not None}
    if outputs and args.steps:
        raise ValueError(
            f"--steps cannot be combined with --{next(iter(outputs))}. Omit one of them."
        )
    # All outputs are checked before the first is written.
    for path in outputs.values():
        check_output(path, args.file)
    trace = Trace.from_json(read_text(args.file, "trace", MOST_TRACE))
    for name, path in outputs.items():
        write_text(path, text := FORMATS[name](trace))
        say(f"{path}: {len(text.encode()) / 1000:.0f} kB")
    if args.steps:
        for step in trace.steps:
            print(step_line(step))
    # Whoever writes files wants no text on the terminal.
    elif not outputs:
        print(printable(trace.prompt_text) + "".join(map(paint, trace.steps)))
    print(f"\n{summary(trace)}")
