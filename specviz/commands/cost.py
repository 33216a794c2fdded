"""`cost`: time the parts of a step on this machine, for trees of rising size."""

from __future__ import annotations

import argparse
from typing import Any

from ..acceptance.progress import whole
from ..benchmarks.measure_cost import PROMPT, measure_cost
from ..config import RunConfig
from ..errors import reject_given
from ..files import printable, read_text
from ..planning.cost_table import MACHINES, CostTable, machine
from .options import add_pair, add_strategy, add_temperature, load, strategy
from .watching import watched

EXAMPLE = "--temperature 0.8 --json > cost.json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    add_strategy(parser, "verifier", "sequoia, and exact-match at temperature 0; its arithmetic is timed")
    parser.add_argument(
        "--seconds", type=float, default=45.0, metavar="S", help="time limit in seconds, above 0 (default 45)"
    )
    add_strategy(parser, "drafter", "model")
    add_machine(parser)
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the table as JSON, for `optimize --cost`")


def run(args: argparse.Namespace) -> None:
    if not 0 < args.seconds < float("inf"):
        raise ValueError(f"--seconds must be a number above 0; got {args.seconds:g}.")
    if args.machine:
        measured = ("seconds", "temperature", "verifier", "drafter", "target", "draft", "device", "dtype", "offload")
        reject_given(args, measured, "with --machine, which is not measured")
    verifier = strategy(args, "verifier", args.verifier or ("exact-match" if args.temperature == 0 else "sequoia"))
    drafter = strategy(args, "drafter", args.drafter)
    table = table_for(args, RunConfig(PROMPT, temperature=args.temperature, verifier=verifier, drafter=drafter))
    if args.json:
        print(table.to_json())
        return
    unit, scale = table.shown_in
    print(printable(f"{table.machine}: {table.note}"))
    print(f"plain decoding: {scale * table.plain_s:.2f} {unit} per token; all times in {unit}\n")
    print("  nodes     target     overhead   of a plain step")
    for size, target, rest in zip(table.sizes, table.target_s, table.overhead_s, strict=True):
        print(f"{size:7}{scale * target:11.2f}{scale * rest:13.2f}{target / table.plain_s:18.2f}")
    print("\n  nodes     draft pass")
    for width, draft in zip(table.widths, table.draft_s, strict=True):
        print(f"{width:7}{scale * draft:17.2f}")
    if table.opening_s:
        print(f"  first{scale * table.opening_s:17.2f} more, once per step")


def add_machine(parser: argparse.ArgumentParser) -> None:
    names = ", ".join(MACHINES)
    parser.add_argument(
        "--machine", metavar="NAME",
        help=f"a projection: {names}, or flat:N if N nodes cost as much as one (default: this machine)",
    )  # fmt: skip


def table_for(args: argparse.Namespace, config: RunConfig, pair: Any = None) -> CostTable:
    """The table of --machine, that of --cost, or this machine measured now, with `pair` or the one asked for."""
    if args.machine:
        if getattr(args, "cost", None):
            raise ValueError("--cost and --machine cannot be combined. Omit one of them.")
        return machine(args.machine)
    if getattr(args, "cost", None):
        return CostTable.from_json(read_text(args.cost, "--cost"))
    pair = pair or load(args)
    return whole(watched(measure_cost(pair, config, seconds=getattr(args, "seconds", 30.0)), "bursts"))
