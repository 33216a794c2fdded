"""`scale`: time and memory of a step as trees, texts and vocabularies grow."""

from __future__ import annotations

import argparse

from ..benchmarks.scale import NODES, VOCABULARIES, Cost, scale
from ..builders import BUILDERS
from ..codec import lines, plain
from ..compatibility import suited
from ..config import RunConfig
from ..models.base import Pair
from .options import add_pair, add_strategy, add_temperature, load, numbers, strategy

EXAMPLE = "--temperature 0.8 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    add_strategy(parser, "verifier", "the first one compatible with the temperature")
    lists = {
        "--sizes": ("N", "tree sizes, 2 to 1024", NODES),
        "--contexts": ("TOKENS", "text lengths, from 1", None),
        "--vocabularies": ("V", "vocabulary sizes, 256 to 1000000", VOCABULARIES),
    }
    for name, (what, means, default) in lists.items():
        shown = "doubled up to the pair's limit" if default is None else ",".join(map(str, default))
        parser.add_argument(name, metavar=f"{what},...", help=f"{means} (default {shown})")
    parser.add_argument("--steps", type=int, default=6, metavar="N", help="steps per row, from 1 (default 6)")
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> None:
    tree = BUILDERS["sequoia"]()
    verifier = strategy(
        args, "verifier", args.verifier or suited(RunConfig(builder=tree, temperature=args.temperature))
    )
    if args.steps < 1:
        raise ValueError(f"--steps must be at least 1; got {args.steps}.")
    nodes = numbers("--sizes", args.sizes, 2, 1024) if args.sizes else NODES
    contexts = numbers("--contexts", args.contexts, 1, 10**7) if args.contexts else None
    vocabularies = numbers("--vocabularies", args.vocabularies, 256, 10**6) if args.vocabularies else VOCABULARIES
    from ..models.random_weights import random_pair

    pair = load(args)
    if pair.draft is None:
        raise ValueError("the pair must have a draft. Add --draft.")

    def of_vocabulary(size: int) -> Pair:
        return random_pair("embedded", "embedded", args.device, args.dtype, vocab=size)

    rows: list[Cost] = []
    for row in scale(pair, of_vocabulary, verifier, args.temperature, nodes, contexts, vocabularies, args.steps):
        rows.append(row)
        if not args.json:
            print(line_of(row, rows[-2] if len(rows) > 1 else None), flush=True)
    if args.json:
        print(lines([plain(row) | {"overhead": row.overhead} for row in rows]))
    else:
        print(f"{pair.info['name']}, {verifier.title}, temperature {args.temperature:g}; medians of {args.steps} steps")
        print("random: models of the embedded pair's shape with random weights; their acceptance is meaningless")


HEADING = "grows        nodes   text  vocabulary   ms per step: draft   target   verify    other  overhead   memory MB"


def line_of(row: Cost, before: Cost | None = None) -> str:
    """A row as a line, under a heading where another thing begins to grow."""
    parts = "".join(f"{1000 * seconds:9.2f}" for seconds in (row.target_s, row.verify_s, row.other_s))
    memory = "–" if row.memory is None else f"{row.memory / 2**20:.1f}"
    line = (
        f"{row.grows:11}{row.nodes:7}{row.context:7}{row.vocabulary:12}{1000 * row.draft_s:19.2f}{parts}"
        f"{row.overhead:10.1%}{memory:>12}{'  random' if row.random else ''}"
    )
    if before is None:
        return f"{HEADING}\n{line}"
    return line if row.grows == before.grows else f"\n{line}"
