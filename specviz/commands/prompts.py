"""The option --prompts: texts to continue."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..files import HELD_OUT, parse_json, read_text

FEW = 10  # built-in prompts that are timed


def add_prompts(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--prompts", metavar="FILE", help="texts to continue: one prompt per line, or a JSON list of texts in a .json "
        "file (default: openings of tales and code)",
    )  # fmt: skip


def prompts_of(args: argparse.Namespace) -> list[str]:
    """The prompts of the option, or the built-in ones."""
    return read_prompts(args.prompts) if args.prompts else built_in_prompts()


def source_of(args: argparse.Namespace) -> str:
    """Where the prompts come from, in words."""
    return Path(args.prompts).name if args.prompts else "the built-in prompts"


def built_in_prompts() -> list[str]:
    """The prompts that no training text holds, prose and code alternating."""
    kinds = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    return [prompt for both in zip(*kinds.values(), strict=False) for prompt in both]


def read_prompts(path: str) -> list[str]:
    """The prompts of a file: one a line, or a JSON list of texts where its name ends in .json."""
    text = read_text(path, "--prompts")
    if not path.lower().endswith(".json"):
        prompts = [line for line in text.splitlines() if line.strip()]
        if not prompts:
            raise ValueError(f"--prompts {path!r} must have at least one line of text.")
        return prompts
    try:
        prompts = parse_json(text)
    except ValueError:
        raise ValueError(f"--prompts {path!r} is not valid JSON. Write a list of texts, or use a .txt file.") from None
    if not (isinstance(prompts, list) and prompts and all(isinstance(one, str) and one.strip() for one in prompts)):
        raise ValueError(f"--prompts {path!r} must be a non-empty JSON list of non-empty texts.")
    return prompts
