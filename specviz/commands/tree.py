"""`tree`: the shape of a builder's tree, without a model."""

from __future__ import annotations

import argparse
import json

from ..acceptance.vectors import check_acceptance, expected_tokens, find_acceptance, read_acceptance
from ..builders.filling import StaticBuilder
from ..strategy import parse_value
from .options import add_strategy, strategy

EXAMPLE = "--builder sequoia:size=128,depth=10,acceptance=vector.json --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, "builder", "sequoia")
    parser.add_argument(
        "--acceptance", metavar="FILE", help="count expected tokens with this vector, numbers or a file (default: that "
        "of the builder, or the embedded pair's)",
    )  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print parents and expected tokens as JSON")


def run(args: argparse.Namespace) -> None:
    builder = strategy(args, "builder", args.builder)
    if not isinstance(builder, StaticBuilder):
        raise ValueError(f"{builder.name} needs a model: its tree depends on the text. Use 'generate' instead.")
    own = getattr(builder, "vector", None) or find_acceptance("sequoia", 1.0)
    acceptance = vector(args.acceptance) if args.acceptance else own
    result = {"parents": list(builder.shape.parents), "expected_tokens": expected_tokens(builder.shape, acceptance)}
    if args.json:
        print(json.dumps(result))
        return
    shape = builder.shape
    print(f"{len(shape)} nodes, {shape.depth.max()} levels, {result['expected_tokens']:.3f} tokens per pass")
    for node in shape.depth_first:
        print("  " * int(shape.depth[node]) + f"{node}")


def vector(text: str) -> tuple:
    """The acceptance vector of --acceptance, numbers or a file."""
    value = parse_value(text, {"anyOf": [{"type": "string"}, {"type": "array"}]})
    return read_acceptance(text) if isinstance(value, str) else check_acceptance(value, "--acceptance")
