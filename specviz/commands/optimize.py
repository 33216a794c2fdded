"""`optimize`: the tree predicted to be fastest for a pair on this machine, or on a named one."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from functools import cache
from typing import Any

from ..benchmarks.measure_cost import PROMPT
from ..builders import BUILDERS
from ..builders.k_sequences import KSequences
from ..compatibility import compatible
from ..config import RunConfig
from ..files import printable
from ..metrics import Interval
from ..planning.choose import Candidate, best_rule, candidates, runners_up, spread_over_texts
from ..planning.cost_table import CostTable
from ..strategy import format_strategy
from .bench import built_in_prompts, read_prompts
from .cost import add_machine, table_for
from .optimize_texts import run_texts
from .options import add_pair, add_strategy, add_temperature, load, numbers, strategy
from .vectors import named, rules_for, vectors_for

EXAMPLE = "--temperature 0.8 --machine a100 --json"
MOST_TEXTS = 256


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    vectors = parser.add_mutually_exclusive_group()
    vectors.add_argument(
        "--acceptance", metavar="FILE",
        help="acceptance vector from `calibrate --json` (default: stored for the embedded pair, measured for "
        "others)",
    )  # fmt: skip
    vectors.add_argument(
        "--prompts", metavar="FILE", help="measure the vector on the target's continuations of these prompts: one "
        "prompt per line, or a JSON list of texts in a .json file (default: none)",
    )  # fmt: skip
    add_strategy(parser, "verifier", "the best rule with a known vector")
    add_strategy(parser, "drafter", "model")
    parser.add_argument("--cost", metavar="FILE", help="table from `cost --json` (default: measure now)")
    add_machine(parser)
    parser.add_argument(
        "--texts", metavar="N,N", help="numbers of texts decoded together, as in 1,2,4,8,16: the best tree for each, "
        "predicted and timed with equal trees and with a shared budget of nodes (default: one text)",
    )  # fmt: skip
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the choice as JSON")


def run(args: argparse.Namespace) -> int:
    counts = numbers("--texts", args.texts, 1, MOST_TEXTS) if args.texts else []
    drafter = strategy(args, "drafter", args.drafter)
    rules = rules_for(args, drafter)
    config = RunConfig(PROMPT, BUILDERS["chain"](), temperature=args.temperature, drafter=drafter)
    runs = {rule: replace(config, verifier=rule) for rule in rules}
    for one in runs.values():
        compatible(one).required()
    fixed = args.machine or args.cost
    pair = cache(lambda: load(args))
    vectors = vectors_for(args, rules, drafter, pair, loads=not fixed or bool(counts))

    @cache
    def cost_of(name: str) -> CostTable:
        return table_for(args, runs[name], None if fixed else pair())

    plans = {name: vector.plan for name, vector in vectors.items()}
    verifier, best, cost = best_rule(plans, config, lambda name: cost_of(rules[0] if fixed else name))
    if counts:
        given = read_prompts(args.prompts) if args.prompts else built_in_prompts()
        here = None if args.machine else pair()
        return run_texts(here, plans[verifier], cost, runs[verifier], counts, given, args.json)
    ranked = candidates(plans[verifier], cost, runs[verifier])
    shown = [best, *runners_up(ranked, best)]
    spreads = [spread_over_texts(one, vectors[verifier].left_out) for one in shown]
    match = compatible(replace(runs[verifier], builder=best.builder))
    rest: dict[str, Any] = {
        "drafter": format_strategy(drafter),
        "lossless": match.lossless,
        "machine": cost.machine,
        "unit": cost.unit,
        "note": cost.note,
        "candidates": len(ranked),
        "texts": vectors[verifier].texts,
        "best": [ranges(one, spread) for one, spread in zip(shown, spreads, strict=True)],
    }
    if args.json:
        print(json.dumps(as_dict(verifier, best, args.temperature) | rest))
    else:
        mark = "" if match.lossless else " (lossy)"
        print(printable(f"{cost.machine}: {cost.note}\n{named(vectors[verifier])}"))
        print_choice(
            rest["best"],
            f"{verifier}{mark} at temperature {args.temperature:g}",
            len(ranked),
            len(vectors[verifier].by_text),
        )
        if not match.lossless:
            print(f"lossy: {match.reason}")
        if best.predicted.speedup <= 1:
            print("Plain decoding is faster than every tree here.")
        elif not cost.projection:
            print("agree --speedup times such predictions; advise times the best trees of several drafters.")
    return 0


def ranges(one: Candidate, spread: Interval) -> dict[str, Any]:
    """A candidate's prediction, with its 95 % interval over texts where there is one."""
    low, high = spread
    cell = one.predicted
    return {
        "name": one.name, "tokens_per_pass": cell.tokens_per_pass, "speedup": cell.speedup,
        "low": None if low is None else low * cell.speedup, "high": None if high is None else high * cell.speedup,
    }  # fmt: skip


def print_choice(best: list[dict[str, Any]], how: str, count: int, texts: int) -> None:
    """The choice and its runners-up with their intervals, and whether these tell them apart."""
    first, *others = best
    known = first["low"] is not None

    def says(one: dict[str, Any]) -> str:
        between = f" [{one['low']:.2f}, {one['high']:.2f}]" if known else ""
        return f"{one['tokens_per_pass']:.2f} tokens per pass, {one['speedup']:.2f}{between} times plain decoding"

    print(f"{first['name']} with {how}: {says(first)}")
    intervals = (
        f"95 % CI across {texts} texts, costs assumed exact" if known else "no interval: this needs at least two texts"
    )
    print(f"best among {count} candidates (chains, k sequences, Sequoia's trees); {intervals}")
    for one in others:
        print(f"  next: {one['name']}, {says(one)}")
    if known and any(one["high"] >= first["low"] for one in others):
        print("The intervals overlap, so another tree may be the fastest.")


def as_dict(verifier: str, best: Candidate, temperature: float) -> dict:
    """The choice as plain data; `width` where the builder has one that decides its shape."""
    cell = best.predicted
    wide = {"width": best.builder.width} if isinstance(best.builder, KSequences) else {}
    return {
        "builder": best.builder.name, "verifier": verifier, "size": cell.size, "depth": cell.depth,
        "temperature": temperature, "tokens_per_pass": cell.tokens_per_pass, "speedup": cell.speedup,
        "step_s": cell.step_s, "parts": cell.parts, "pays": cell.speedup > 1,
    } | wide  # fmt: skip
