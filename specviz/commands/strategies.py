"""`strategies`: builders, rules and drafters, with the meaning, range and default of each parameter."""

from __future__ import annotations

import argparse
from dataclasses import fields
from typing import Any

from ..errors import UnknownName
from ..parameters import MUST, must, text_of
from ..registry import REGISTRIES

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
                print(f"\n--{kind} {name}: {cls.title}", *map(line_of, fields(cls)), sep="\n")


def line_of(field: Any) -> str:
    """A parameter as a line."""
    meta = field.metadata
    wants = f" It must {must(meta)}." if meta["kind"] in MUST else ""
    return f"  {field.name}={text_of(field.default)}  {meta['help']}{wants}"
