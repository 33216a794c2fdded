"""How a command declares an option: one call, and numbers in a range."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import suppress
from math import inf

Arguments = argparse.Namespace  # the values of a command's options
Parser = argparse._ActionsContainer  # a parser, or a group of one
SEVERAL = ", repeat for several"


def option(
    parser: Parser,
    usage: str,
    text: str,
    kind: Callable[[str], object] = str,
    default: object = None,
    several: bool = False,
) -> None:
    """Add an option.

    Args:
        parser: a parser, or a group of one.
        usage: "--each N", or a flag, "--json".
        text: its help.
        kind: what reads its value.
        default: its value where it is not given.
        several: whether it may be given several times.
    """
    name, _, metavar = usage.partition(" ")
    # A usage with a word behind the option takes a value; one without is a flag.
    if metavar:
        if "default" not in text and "required" not in text:
            text += f" (default: {'none' if default in (None, []) else default})"
        action = "store"
        if several:
            action = "append"
        parser.add_argument(
            name,
            metavar=metavar,
            help=text,
            type=kind,
            default=default,
            action=action,
        )
    else:
        parser.add_argument(name, action="store_true", help=text)


def within(
    kind: type, low: float, high: float = inf, above: bool = False
) -> Callable[[str], float]:
    """The type of an option that is a whole number (`int`) or a number (`float`) in a range, or
    above its lower end."""
    must = f"must be a {'whole ' * (kind is int)}number {'above' if above else 'from'} {low:g}"

    def read(text: str) -> float:
        with suppress(ValueError):
            value = kind(text)
            if low <= value <= high and not (above and value == low):
                return value
        raise argparse.ArgumentTypeError(f"{must}{f' to {high:.16g}' * (high < inf)}; got {text}")

    return read
