"""The command line: `python -m specviz COMMAND`.

A bad value gives one sentence and exit code 2, an output that cannot be written exit code 1.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Sequence
from typing import Any, NoReturn, TextIO

from ..base.errors import UnknownName
from ..base.files import __version__, printable
from ..config.plugins import load, load_installed
from . import COMMANDS, command
from .arguments import SEVERAL, option


class Once(argparse.Action):
    """An option with one value that must not be given twice."""

    count = 0

    def __call__(self, parser, namespace, values, option_string=None) -> None:
        if option_string and self.count:
            raise ValueError(f"{option_string} was given more than once. Give it once.")
        if option_string and values == "":
            raise ValueError(f"{option_string} must not be empty. Give it a value, or omit it.")
        self.count += 1
        setattr(namespace, self.dest, values)


class CommandParser(argparse.ArgumentParser):
    """An argument parser whose errors are exceptions, and whose options are not abbreviated."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **{**more, "allow_abbrev": False})
        for name in (None, "store"):
            self.register("action", name, Once)

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong as one sentence."""
        raise ValueError(re.sub(r"^argument ([^:]+): must", r"\1 must", message).rstrip(".") + ".")


def main(arguments: list[str] | None = None) -> int:
    """Run one command. Returns 0 on success, 1 if its output cannot be written or as the command
    defines, 2 for a bad value, 130 if interrupted."""
    if arguments is None:
        arguments = sys.argv[1:]
    # The command before any parser is built: only its module is imported.
    name = next((argument for argument in arguments if not argument.startswith("-")), "")
    where = "specviz"
    if name in COMMANDS:
        where = f"specviz {name}"
    try:
        if sys.stdout is None:
            raise OSError("standard output is closed")
        if name and name not in COMMANDS:
            raise UnknownName("command", name, COMMANDS)
        args = _parser(name, arguments).parse_args(arguments)
        code = command(name).run(args) or 0
        # Here and not at the interpreter's end, where a full disk would be nobody's error.
        sys.stdout.flush()
        return code
    except ValueError as error:
        _complain(f"{where}: {error}")
        return 2
    except KeyboardInterrupt:
        _complain("\nstopped")
        return 130
    except BrokenPipeError:
        _drop(sys.stdout)  # no reader: end quietly
        return 0
    # What commands open themselves is said there. This is the output, on a full disk say, which
    # has no name, or a file of a library.
    except OSError as error:
        reason = error.strerror or error
        if error.filename is not None:
            _complain(f"{where}: {str(error.filename)!r} cannot be used: {reason}.")
            return 1
        _drop(sys.stdout)
        _complain(f"{where}: the output cannot be written: {reason}. Write to another file.")
        return 1


def _complain(sentence: str) -> None:
    """Print to standard error; where that cannot be written either, the exit code has to do."""
    if sys.stderr is not None:
        try:
            print(printable(sentence), file=sys.stderr, flush=True)
        except OSError:
            _drop(sys.stderr)


def _drop(stream: TextIO | None) -> None:
    """Discard unprinted output, so that the interpreter can exit."""
    if stream is not None:
        # Whatever is still buffered goes nowhere instead of failing once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _parser(name: str, arguments: Sequence[str] = ()) -> CommandParser:
    """A parser that knows all commands, but the options of one alone: others are not imported.

    Plugins are loaded first, what is installed and what --plugin names, since the menus of a
    command list them.
    """
    # The only option that is read before the others are known: plugins add to their menus.
    early = CommandParser(add_help=False)
    option(
        early,
        "--plugin FILE",
        f"Python file or module with builders, rules or drafters of your own{SEVERAL}",
        default=[],
        several=True,
    )
    if name:
        load_installed()
    for plugin in early.parse_known_args(arguments)[0].plugin:
        load(plugin)
    parser = CommandParser(
        prog="specviz", description="Watch tree speculative decoding step by step."
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(
        dest="command", required=True, metavar="COMMAND", parser_class=CommandParser
    )
    for other, summary in COMMANDS.items():
        one = commands.add_parser(
            other,
            help=summary,
            description=summary,
            parents=[early],
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # The options of all other commands would cost the import of their modules.
        if other == name:
            one.epilog = f"example:\n  python -m specviz {name} {command(name).EXAMPLE}"
            command(name).add_arguments(one)
            one.set_defaults(defaults={action.dest: action.default for action in one._actions})
    return parser
