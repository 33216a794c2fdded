"""`export`: a recorded run as one HTML file that plays offline."""

from __future__ import annotations

import argparse

from ..files import check_output, printable, write_text
from ..player.offline import offline_page
from .options import read_trace

EXAMPLE = "run.json --html run.html"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a trace, as `generate --trace` or the demo writes it")
    parser.add_argument("--html", required=True, metavar="OUT", help="the file to write")


def run(args: argparse.Namespace) -> None:
    check_output(args.html, args.file)
    page = offline_page(read_trace(args.file))
    write_text(args.html, page)
    print(f"{printable(args.html)}: {len(page.encode()) / 1000:.0f} kB")
