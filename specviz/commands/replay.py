"""`replay`: a recorded run in the terminal, or as a page that plays offline."""

from __future__ import annotations

from ..base.files import MOST_TRACE, check_output, printable, read_text, write_text
from ..record.trace import Trace
from ..view import offline_page
from ..view.terminal import paint, step_line, summary
from .arguments import Arguments, Parser, option
from .display import say

EXAMPLE = "run.json --html run.html"


def add_arguments(parser: Parser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace from `generate --trace` or the demo")
    option(parser, "--steps", "print one line per step")
    option(parser, "--html OUT", "write one HTML file that plays offline")


def run(args: Arguments) -> None:
    if args.html and args.steps:
        raise ValueError("--steps cannot be combined with --html. Omit one of them.")
    if args.html:
        check_output(args.html, args.file)
    trace = Trace.from_json(read_text(args.file, "trace", MOST_TRACE))
    if args.html:
        text = offline_page(trace)
        write_text(args.html, text)
        say(f"{args.html}: {len(text.encode()) / 1000:.0f} kB")
    elif args.steps:
        for step in trace.steps:
            print(step_line(step))
    else:
        print(printable(trace.prompt_text) + "".join(map(paint, trace.steps)))
    print(f"\n{summary(trace)}")
