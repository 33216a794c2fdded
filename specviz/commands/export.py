"""`export`: a recorded run as a page that plays offline."""

from __future__ import annotations

import argparse

from ..files import check_output, printable, write_text
from ..player import FORMATS
from .options import read_trace

EXAMPLE = "run.json --html run.html"
WHAT = {
    "html": "write one HTML file that plays offline",
    "embed": "write the same page as a frame to paste into a web page or slides",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace from `generate --trace` or the demo")
    for name, what in WHAT.items():
        parser.add_argument(f"--{name}", metavar="OUT", help=f"{what} (default: none)")


def run(args: argparse.Namespace) -> None:
    outputs = {name: getattr(args, name) for name in WHAT if getattr(args, name) is not None}
    if not outputs:
        raise ValueError("export needs at least one output, with a file name: --html or --embed.")
    for path in outputs.values():
        check_output(path, args.file)
    trace = read_trace(args.file)
    for name, path in outputs.items():
        text = FORMATS[name](trace)
        write_text(path, text)
        print(f"{printable(path)}: {len(text.encode()) / 1000:.0f} kB")
