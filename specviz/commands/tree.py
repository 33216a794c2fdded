"""`tree`: the shape of a builder's tree, without a model."""

from __future__ import annotations

import argparse
import json
from dataclasses import fields

from ..acceptance.vectors import expected_tokens, find_acceptance
from ..builders import BUILDERS
from ..builders.filling import StaticBuilder
from ..config import Choice
from ..registry import build
from .options import add_strategy, refuse_unused, strategy, value_of

EXAMPLE = "--builder sequoia --acceptance vector.json --size 128 --depth 10 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, verifier=False)
    parser.add_argument("--json", action="store_true", help="print parents and expected tokens as JSON")


def run(args: argparse.Namespace) -> None:
    given = args.parameter_acceptance
    acceptance = find_acceptance("sequoia", 1.0) if given in (None, "auto", "measured") else None
    builder = strategy(args, "builder", args.builder)
    if not isinstance(builder, StaticBuilder):
        raise ValueError(f"{builder.name} needs a model: its tree depends on the text. Use 'generate' instead.")
    if acceptance is None:
        free = next(field for field in fields(BUILDERS["sequoia"]) if field.name == "acceptance")
        acceptance = value_of("acceptance", given, free)
    if "acceptance" in {field.name for field in fields(builder)}:
        own = Choice.of(builder).parameters | {"acceptance": acceptance}
        builder = build("builder", Choice(builder.name, own))
    else:
        args.parameter_acceptance = None
    refuse_unused(args, builder)
    result = {"parents": list(builder.shape.parents), "expected_tokens": expected_tokens(builder.shape, acceptance)}
    if args.json:
        print(json.dumps(result))
        return
    shape = builder.shape
    print(f"{len(shape)} nodes, {shape.depth.max()} levels, {result['expected_tokens']:.3f} tokens per pass")
    for node in shape.depth_first:
        print("  " * int(shape.depth[node]) + f"{node}")
