"""The command line: `python -m specviz COMMAND`. A bad value gets one sentence and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from typing import NoReturn

from ._version import __version__
from .commands import COMMANDS


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it went well, 2 if a value was bad, 130 if it was interrupted."""
    args = _parser().parse_args(arguments)
    try:
        return COMMANDS[args.command].run(args) or 0
    except ValueError as error:
        print(f"specviz {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: end quietly
        return 0


def _parser() -> Parser:
    parser = Parser(prog="specviz", description="See tree speculative decoding as it happens.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    for name, command in COMMANDS.items():
        command.add_arguments(
            commands.add_parser(
                name,
                help=command.HELP,
                description=command.HELP,
                epilog=f"example:\n  python -m specviz {name} {command.EXAMPLE}",
                formatter_class=argparse.RawDescriptionHelpFormatter,
            )
        )
    return parser
