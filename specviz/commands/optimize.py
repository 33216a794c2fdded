"""`optimize`: the tree predicted to be fastest for a pair on this machine, or on a named one."""

from __future__ import annotations

import argparse
import json
import shlex
from collections import deque
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from ..acceptance.progress import whole
from ..benchmarks.agreement import prompts_like
from ..benchmarks.measure_cost import PROMPT
from ..benchmarks.tree_comparison import TreeComparison, contest, grid
from ..builders import BUILDERS
from ..builders.k_sequences import KSequences
from ..compatibility import compatible
from ..config import RunConfig
from ..files import printable
from ..metrics import Interval, plus_minus
from ..planning.choose import Candidate, best_rule, candidates, runners_up, spread_over_texts
from ..planning.cost_table import CostTable
from ..registry import spelled
from .bench import built_in_prompts, read_prompts
from .cost import add_machine, table_for
from .optimize_texts import counts_from, run_texts
from .options import add_pair, add_strategy, add_temperature, load, strategy
from .vectors import named, rules_for, vectors_for
from .watching import watched

EXAMPLE = "--temperature 0.8 --machine a100 --json"
ALLOWED = 0.05  # how much slower than the fastest the choice may be


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
        "--measure", action="store_true",
        help="time a grid of trees, then the three fastest and the choice again; exit code 1 if the choice is more "
        "than 5 %% slower than the fastest",
    )  # fmt: skip
    parser.add_argument(
        "--each", type=int, default=40, metavar="N",
        help="with --measure: number of prompts for the second round, from 1 (default 40)",
    )  # fmt: skip
    parser.add_argument(
        "--texts", metavar="N,N", help="numbers of texts decoded together, as in 1,2,4,8,16: the best tree for each, "
        "predicted and timed with equal trees and with a shared budget of nodes (default: one text)",
    )  # fmt: skip
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the choice as JSON")


def run(args: argparse.Namespace) -> int:
    if args.measure and args.machine:
        raise ValueError("--measure times this machine. Omit --machine.")
    counts = counts_from(args.texts) if args.texts else []
    if counts and args.measure:
        raise ValueError("--texts times its trees without --measure. Omit --measure.")
    drafter = strategy(args, "drafter", args.drafter)
    rules = rules_for(args, drafter)
    config = RunConfig(PROMPT, BUILDERS["chain"](), temperature=args.temperature, drafter=drafter)
    runs = {rule: replace(config, verifier=rule) for rule in rules}
    for one in runs.values():
        compatible(one).required()
    fixed = args.machine or args.cost
    pair = cache(lambda: load(args))
    vectors = vectors_for(args, rules, drafter, pair, loads=not fixed or args.measure or bool(counts))

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
        "drafter": spelled(drafter),
        "lossless": match.lossless,
        "machine": cost.machine,
        "unit": cost.unit,
        "note": cost.note,
        "candidates": len(ranked),
        "texts": vectors[verifier].texts,
        "best": [ranges(one, spread) for one, spread in zip(shown, spreads, strict=True)],
    }
    timed = measured_contest(pair(), best, plans[verifier], verifier, args) if args.measure else None
    if args.json:
        timing: dict[str, Any] = {} if timed is None else {"behind": timed.behind, **{
            part: [asdict(trial) for trial in getattr(timed, part)] for part in ("first", "final")
        }}  # fmt: skip
        print(json.dumps(as_dict(verifier, best, args.temperature) | rest | timing))
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
        elif not cost.projection and timed is None:
            print(f"measure it: {again(args, verifier)}")
        if timed is not None:
            print_contest(timed)
    return 1 if timed is not None and (timed.behind or 0.0) > ALLOWED else 0


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


def again(args: argparse.Namespace, verifier: str) -> str:
    """The command line that times the choice: the same options, the chosen rule, and --measure."""
    usual = {"drafter": "model", "device": "auto", "dtype": "auto"}
    names = (
        "target",
        "draft",
        "device",
        "dtype",
        "offload",
        "offload_folder",
        "drafter",
        "acceptance",
        "prompts",
        "cost",
    )
    given = [(name, getattr(args, name)) for name in names]
    given += [("temperature", f"{args.temperature!r}"), ("verifier", verifier)]
    words = [
        word
        for name, value in given
        if value not in (None, usual.get(name))
        for word in (f"--{name.replace('_', '-')}", value)
    ]
    return shlex.join(["python", "-m", "specviz", "optimize", *words, "--measure"])


def measured_contest(pair, best: Candidate, vector: tuple, verifier: str, args: argparse.Namespace) -> TreeComparison:
    """The grid, and the leaders with the choice once more; Ctrl-C ends it without a result."""
    given = read_prompts(args.prompts) if args.prompts else built_in_prompts()
    prompts = whole(watched(prompts_like(pair, given, args.each, seed=1), "prompts"))
    drafter, rule = strategy(args, "drafter", args.drafter), strategy(args, "verifier", verifier)
    config = RunConfig(temperature=args.temperature, verifier=rule, max_new_tokens=64, drafter=drafter)
    others = grid(vector, config)
    last = deque(watched(contest(pair, best.builder, others, rule, config, prompts), "runs"), maxlen=1)
    if not last or last[0].behind is None:
        raise ValueError("the models end every text immediately, so nothing could be timed.")
    return last[0]


def print_contest(result: TreeComparison) -> None:
    """Every tree of the grid with its speedup, fastest first, and how far the choice is from the best."""
    for title, timed in (("grid, timed once", result.first), ("fastest and chosen trees, timed again", result.final)):
        print(f"\n{title}: speedup over plain decoding")
        for trial in sorted(timed, key=lambda trial: -trial.speedup):
            mark = "  <- chosen" if trial.name == result.chosen else ""
            timing = f"{trial.tokens_per_pass:.2f} tokens per pass, {1000 * trial.step_s:.2f} ms per step"
            print(f"  {trial.speedup:5.2f}{plus_minus(trial.margin)}  {trial.name:34} {timing}{mark}")
    print(f"\nthe choice is {result.behind:.1%} slower than the fastest")


def as_dict(verifier: str, best: Candidate, temperature: float) -> dict:
    """The choice as plain data; `width` where the builder has one that decides its shape."""
    cell = best.predicted
    wide = {"width": best.builder.width} if isinstance(best.builder, KSequences) else {}
    return {
        "builder": best.builder.name, "verifier": verifier, "size": cell.size, "depth": cell.depth,
        "temperature": temperature, "tokens_per_pass": cell.tokens_per_pass, "speedup": cell.speedup,
        "step_s": cell.step_s, "parts": cell.parts, "pays": cell.speedup > 1,
    } | wide  # fmt: skip
