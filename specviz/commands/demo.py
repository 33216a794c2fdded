"""`specviz demo`: the page, served from this machine."""

from __future__ import annotations

import sys
from importlib import import_module

from ..base.files import HERE
from .arguments import Arguments, Parser, option, within

EXAMPLE = "--port 8000"


def add_arguments(parser: Parser) -> None:
    option(
        parser,
        "--port N",
        "port to listen on (default: the first free one from 7860)",
        within(int, 1, 65535),
    )
    option(
        parser,
        "--host-allowed NAMES",
        "further host names of the page, separated by commas (default: SPECVIZ_HOSTS)",
        default="",
    )


def run(args: Arguments) -> None:
    app = "specviz.app"
    if not (HERE / "app").is_dir():  # an installed package carries the demo inside
        sys.path.insert(0, str(HERE.parent))
        app = "app"
    # Before gradio is imported, which takes seconds: a port that is taken is reported at once.
    import_module(f"{app}.service.http.server").check_address(args.port)
    import_module(f"{app}.page").serve(args.port, args.host_allowed)
