"""`bench --shape`: the options, and the report as text. Measured first, then, if asked for, the projection."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..acceptance.vectors import read_acceptance
from ..builders import BUILDERS
from ..compatibility import suited
from ..config import RunConfig
from ..verifiers import VERIFIERS
from .options import TEMPERATURE, sampling, strategies
from .watching import until_stopped

if TYPE_CHECKING:
    from ..benchmarks.model_shapes import ShapeReport
    from ..benchmarks.trials import Trial

# Options that choose trained models, their texts, or another kind of benchmark.
OTHERS = ("target", "draft", "offload", "offload_folder", "prompts", "same_text")


def add_shape(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("random weights in real shapes, to time the engine")
    group.add_argument(
        "--shape", metavar="NAME", help="of the target, for example llama-2-7b, or embedded (default: none)"
    )
    group.add_argument(
        "--draft-shape", metavar="NAME", help="of the draft, for example llama-68m; required with --shape"
    )
    group.add_argument(
        "--acceptance", metavar="FILE", help="project the speed with this vector (default: no projection)"
    )
    group.add_argument("--context", type=int, metavar="N", help="context length in tokens, from 1 (default 128)")


def run_shape(args: argparse.Namespace) -> int:
    """Measure, and print the report."""
    if named := [name for name in OTHERS if getattr(args, name)]:
        raise ValueError(f"--shape uses random weights. Omit --{named[0].replace('_', '-')}.")
    if not args.draft_shape:
        raise ValueError("--shape needs --draft-shape, for example llama-68m.")
    recorded = read_acceptance(args.acceptance) if args.acceptance else None
    temperature = TEMPERATURE if args.temperature is None else args.temperature
    if len(args.verifier or ()) > 1:
        raise ValueError("--shape times one rule. Give --verifier once.")
    rules = strategies(args, "verifier")
    builders = strategies(args, "builder") or [BUILDERS["sequoia"](size=64, depth=10)]
    config = RunConfig(
        builder=builders[0], temperature=temperature, max_new_tokens=args.max_new_tokens, **sampling(args),
    )  # fmt: skip
    config = replace(config, verifier=rules[0] if rules else VERIFIERS[suited(config)]())
    from ..benchmarks.model_shapes import SIZES, as_dict, bench_shape, project
    from ..models.random_weights import random_pair

    context = 128 if args.context is None else args.context
    tokens_left = context + args.max_new_tokens + SIZES[-1]
    pair = random_pair(args.shape, args.draft_shape, args.device, args.dtype, tokens_left)
    last, stopped = until_stopped(bench_shape(pair, config, builders, context, SIZES, args.rounds), "pieces")
    report = last.known
    projection = None if recorded is None or report.table is None else project(report, recorded)
    if args.json:
        print(json.dumps(as_dict(report, projection), indent=1))
    else:
        print_report(report, projection)
    return 130 if stopped else 0


def print_report(report: ShapeReport, projection: dict[str, Any] | None) -> None:
    from ..benchmarks.model_shapes import RANDOM

    where = f"{report.pair['dtype']} on {report.pair['device']}"
    print(f"{report.pair['name']}, {where}, {report.context} tokens of context\n{RANDOM}\n")
    print("target pass:  nodes  engine ms  bare ms  engine / bare")
    for one in report.passes:
        bare = "" if one.bare_s is None else f"{1000 * one.bare_s:9.2f}{one.ratio:15.2f}"
        print(f"{one.nodes:19}{1000 * one.engine_s:11.2f}{bare}")
    print("\ndraft pass:   nodes of the level  ms")
    table = report.table
    for nodes, seconds in zip(table.widths, table.draft_s, strict=True) if table else ():
        print(f"{nodes:32}{1000 * seconds:8.2f}")
    print("\nstep, ms:     nodes     draft    target  verify + other   share of the step")
    for step in report.steps:
        draft, target, rest = (1000 * step.parts[part] for part in ("draft", "target", "overhead"))
        print(f"{step.nodes:19}{draft:10.2f}{target:10.2f}{rest:16.2f}{step.share:20.1%}")
    print()
    if report.methods:
        print_rows(report.methods)
    if projection:
        print(
            f"\n{projection['note']}\nsequoia tree of {projection['size']} nodes and {projection['depth']} levels: "
            f"{projection['tokens_per_pass']:.2f} tokens per pass x {1000 * projection['step_s']:.2f} ms per step, "
            f"{projection['tokens_per_s']:.1f} tokens/s; plain decoding {projection['plain_tokens_per_s']:.1f}"
        )


def print_rows(rows: Sequence[Trial]) -> None:
    """What `bench` measured, a line a method: against plain decoding, against transformers, and where time went."""
    others = list(rows[0].against)
    print(" and over ".join(("speedup over plain decoding [min, max round]", *others)))
    heads = "".join(f"{name.split()[-1]:>10}" for name in others)
    print(
        f"{'plain':>6}{'':14}{heads}  {'method':54} tokens/s  a pass   "
        "ms per step: draft  target  verify  other  overhead"
    )
    for setting, group in groupby(rows, key=lambda row: row.setting):
        if setting:
            print(f"{setting}:")
        for row in group:
            parts = "  ".join(f"{1000 * x:6.2f}" for x in row.parts.values())
            over = f"{row.overhead / row.step_s:9.1%}" if row.parts else ""
            name = row.name if row.lossless else f"{row.name} (lossy)"
            ratios = "".join(f"{ratio:10.2f}" for ratio in row.against.values())
            print(
                f"{row.speedup:6.2f} [{row.low:.2f}, {row.high:.2f}]{ratios}  {name:54} "
                f"{row.tokens_per_s:8.1f} {row.tokens_per_pass:7.2f}  {parts:>32} {over}"
            )
