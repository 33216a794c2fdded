"""`specviz demo`: the page, served from this machine."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from ..paths import HERE

EXAMPLE = "--port 8000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--port", type=int, help="where to listen (default: the first free one from 7860)")


def run(args: argparse.Namespace) -> None:
    if (HERE / "app").is_dir():  # an installed package carries the demo inside
        page = import_module("specviz.app.page")
    else:
        sys.path.insert(0, str(HERE.parent))
        page = import_module("app.page")
    page.launch(page.build_demo(), server_port=args.port)
