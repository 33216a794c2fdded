"""The option --prompts: texts to continue."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..benchmarks.this_machine import prompts
from ..files import parse_json, read_text


def add_prompts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prompts", metavar="FILE", help="texts to continue: one prompt per line, or a JSON list of texts in a .json "
        "file (default: openings of tales and code)",
    )  # fmt: skip


def prompts_of(args: argparse.Namespace) -> list[str]:
    """The prompts of the option, or the built-in ones."""
    return read_prompts(args.prompts) if args.prompts else prompts()


def source_of(args: argparse.Namespace) -> str:
    """Where the prompts come from, in words."""
    return Path(args.prompts).name if args.prompts else "the built-in prompts"


def read_prompts(path: str) -> list[str]:
    """The prompts of a file: one a line, or a JSON list of texts where its name ends in .json."""
    text = read_text(path, "--prompts")
    if not path.lower().endswith(".json"):
        found = [line for line in text.splitlines() if line.strip()]
        if not found:
            raise ValueError(f"--prompts {path!r} must have at least one line of text.")
        return found
    try:
        found = parse_json(text)
    except ValueError:
        raise ValueError(f"--prompts {path!r} is not valid JSON. Write a list of texts, or use a .txt file.") from None
    if not (isinstance(found, list) and found and all(isinstance(one, str) and one.strip() for one in found)):
        raise ValueError(f"--prompts {path!r} must be a non-empty JSON list of non-empty texts.")
    return found
