"""`strategies`: builders, rules and drafters, with the meaning, range and default of each parameter."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import UnknownName
from ..strategy import REGISTRIES, format_value
from ..validation import must_be, plain_value

EXAMPLE = "sequoia typical"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("names", nargs="*", metavar="NAME", help="only those of these names (default: all)")


def run(args: argparse.Namespace) -> None:
    known = [name for menu in REGISTRIES.values() for name in menu]
    for name in args.names:
        if name not in known:
            raise UnknownName("NAME", name, dict.fromkeys(known))
    print("written as NAME:parameter=value,parameter=value, such as sequoia:size=16,depth=6; defaults may be omitted")
    for kind, menu in REGISTRIES.items():
        for name, cls in menu.items():
            if name in (args.names or known):
                lines = [line_of(key, schema) for key, schema in cls.parameter_schema().items()]
                print(f"\n--{kind} {name}: {cls.title}", *lines, sep="\n")


def line_of(name: str, schema: Any) -> str:
    """A parameter as a line."""
    return f"  {name}={format_value(plain_value(schema['default']))}  {schema['description']} Must {must_be(schema)}."
