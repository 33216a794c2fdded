"""`new`: write a builder, rule or drafter to begin with, as a plugin of its own."""

from __future__ import annotations

import argparse
import re
from pathlib import Path

from ..errors import ParameterError
from ..files import HERE, check_output, write_text

EXAMPLE = "rule my_rule"
KINDS = ("rule", "builder", "drafter")
NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this command."""
    parser.add_argument("kind", choices=KINDS, help=f"what to write: {', '.join(KINDS)}")
    parser.add_argument("name", metavar="NAME", help="its name; my_rule writes my_rule.py, with the menu name my-rule")


def run(args: argparse.Namespace) -> None:
    """Write a template of a rule, builder or drafter."""
    path = Path(f"{args.name}.py")
    text = template(args.kind, args.name)
    if path.exists():
        raise ValueError(f"{str(path)!r} exists already. Choose another name.")
    check_output(path)
    write_text(path, text)
    print(f"{path}: edit it, and run what its first lines say")


def template(kind: str, name: str) -> str:
    """The text of a plugin.

    Args:
        kind: one of `KINDS`.
        name: small letters and digits with underscores, such as my_rule.

    Raises:
        ValueError: if the name is written in another way.
    """
    if not NAME.fullmatch(name):
        raise ParameterError("NAME", "be small letters and digits with underscores, such as my_rule", name)
    words = name.split("_")
    text = (HERE / "plugins" / "templates" / f"{kind}.py").read_text(encoding="utf-8")
    title = " ".join(words).capitalize()
    for old, new in (
        (r"\bmine\.py\b", f"{name}.py"),
        (r"\bmine\b", "-".join(words)),
        ('"Mine"', f'"{title}"'),
        (r"\bMine\b", "".join(map(str.capitalize, words))),
    ):
        text = re.sub(old, new, text)
    return text
