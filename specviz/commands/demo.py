"""`specviz demo`: the page, served from this machine."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module

from ..base.files import HERE

EXAMPLE = "--port 8000"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--port", type=int, help="port to listen on (default: the first free one from 7860)"
    )


def run(args: argparse.Namespace) -> None:
    inside = (HERE / "app").is_dir()  # an installed package carries the demo inside
    if not inside:
        sys.path.insert(0, str(HERE.parent))
    app = "specviz.app" if inside else "app"
    import_module(f"{app}.machine.server").check_address(args.port)
    page = import_module(f"{app}.page")
    page.launch(page.build_demo(), server_port=args.port)
