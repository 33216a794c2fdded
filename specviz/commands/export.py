"""`export`: a recorded run as one HTML file that plays offline."""

from __future__ import annotations

import argparse

from ..offline import offline_page
from .options import read_trace, write_file

HELP = "Write a recorded run as one HTML file that plays with no server and no network."
EXAMPLE = "run.json --html run.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace, as `generate --trace` or the demo writes it")
    parser.add_argument("--html", required=True, metavar="OUT", help="the file to write")


def run(args: argparse.Namespace) -> None:
    page = offline_page(read_trace(args.file))
    write_file(args.html, page)
    print(f"{args.html}: {len(page.encode()) / 1000:.0f} kB")
