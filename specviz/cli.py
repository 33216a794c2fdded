"""The command line: `python -m specviz COMMAND`. A bad value gets one sentence and exit code 2."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, NoReturn

from ._version import __version__
from .commands import COMMANDS, command
from .files import printable


class Once(argparse.Action):
    """An option with one value, which would silently keep the last one if it were given twice."""

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        seen = namespace.__dict__.setdefault("_seen", set())
        if self.option_strings and self.dest in seen:
            parser.error(f"{option_string} was given more than once, and only one value has a meaning here.")
        seen.add(self.dest)
        setattr(namespace, self.dest, values)


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        for name in (None, "store"):
            self.register("action", name, Once)

    def error(self, message: str) -> NoReturn:
        self.exit(2, printable(f"{self.prog}: {message}") + "\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it went well, 2 if a value was bad, 130 if it was interrupted."""
    arguments = sys.argv[1:] if arguments is None else arguments
    args = _parser(arguments).parse_args(arguments)
    try:
        if sys.stdout is None:
            raise ValueError("standard output is closed, so there is nowhere to print. Send it to a file.")
        code = command(args.command).run(args) or 0
        sys.stdout.flush()
        return code
    except ValueError as error:
        print(printable(f"specviz {args.command}: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        _drop_output()  # nobody reads on: end quietly
        return 0
    except OSError as error:  # what commands open themselves is said there; this is the output, on a full disk say
        _drop_output()
        print(printable(f"specviz {args.command}: the output cannot be written: {error}."), file=sys.stderr)
        return 2


def _drop_output() -> None:
    """Let what is still to be printed go nowhere, so that the interpreter can end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser(arguments: list[str]) -> Parser:
    """A parser that knows all commands, but the options of the one that is asked for alone: others are not imported."""
    parser = Parser(prog="specviz", description="See tree speculative decoding as it happens.")
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)
    asked = next((argument for argument in arguments if not argument.startswith("-")), None)
    for name, says in COMMANDS.items():
        one = commands.add_parser(
            name, help=says, description=says, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        if name == asked:
            one.epilog = f"example:\n  python -m specviz {name} {command(name).EXAMPLE}"
            command(name).add_arguments(one)
    return parser
