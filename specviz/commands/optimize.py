"""`optimize`: the tree that should be fastest on this machine, or on a named one."""

from __future__ import annotations

import argparse
import json
import sys
from collections import deque
from dataclasses import asdict, replace
from functools import cache
from typing import Any

from ..acceptance import EMBEDDED, find_acceptance, measured, planned_with, read_acceptance
from ..builders import BUILDERS
from ..builders.k_sequences import KSequences
from ..compatibility import Compatibility, compatible
from ..config import RunConfig
from ..experiments.agreement import prompts_like
from ..files import printable, read_text
from ..measure.so_far import whole
from ..metrics import plus_minus
from ..speed.choose import Candidate, Contest, best_rule, contest, grid
from ..speed.clock import PROMPT
from ..speed.table import CostTable
from ..verifiers import VERIFIERS
from .bench import built_in_prompts
from .cost import add_machine, load, table_for
from .options import add_drafter, add_pair, add_rule, add_temperature, strategy
from .watching import watched

EXAMPLE = "--temperature 0.8 --machine a100 --json"
ALLOWED = 0.05  # how much slower than the fastest the choice may be


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    parser.add_argument("--acceptance", metavar="FILE", help="vector as `calibrate --json` prints it (default: stored)")
    add_rule(parser, "the best of those with a known vector")
    add_drafter(parser)
    parser.add_argument("--cost", metavar="FILE", help="table as `cost --json` prints it (default: measured now)")
    add_machine(parser)
    parser.add_argument(
        "--measure",
        action="store_true",
        help="time a grid of trees, then its three leaders and the choice again; exit code 1 where that is more than "
        "5 %% slower than the fastest",
    )
    parser.add_argument(
        "--prompts",
        type=int,
        default=40,
        metavar="N",
        help="with --measure: how many, for the second round, from 1 (default 40)",
    )
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the choice as JSON")


def run(args: argparse.Namespace) -> int:
    if args.measure and args.machine:
        raise ValueError("--measure times this machine; leave out --machine.")
    drafter = strategy(args, "drafter", args.drafter)
    vectors = vectors_for(args)
    if not args.acceptance and (warning := planned_with(BUILDERS["sequoia"](), drafter, _pair_named(args))):
        print(warning, file=sys.stderr)
    config = RunConfig(PROMPT, BUILDERS["chain"](), temperature=args.temperature, drafter=drafter)
    for name in vectors:
        match = compatible(replace(config, verifier=VERIFIERS[name]()))
        if not match.possible:
            raise ValueError(match.reason)
    fixed = args.machine or args.cost
    pair = None if args.machine or (args.cost and not args.measure) else load(args)

    @cache
    def cost_of(name: str) -> CostTable:
        return table_for(args, replace(config, verifier=VERIFIERS[name]()), pair)

    any_rule = next(iter(vectors))
    verifier, best, cost = best_rule(vectors, config, lambda name: cost_of(any_rule if fixed else name))
    match = compatible(replace(config, builder=best.builder, verifier=VERIFIERS[verifier]()))
    rest = {
        "drafter": drafter.name,
        "lossless": match.lossless,
        "machine": cost.machine,
        "unit": cost.unit,
        "note": cost.note,
    }
    timed = measured_contest(pair, best, vectors[verifier], verifier, args) if args.measure else None
    if args.json:
        timing: dict[str, Any] = {} if timed is None else {"behind": timed.behind, **{
            part: [asdict(trial) for trial in getattr(timed, part)] for part in ("first", "final")
        }}  # fmt: skip
        print(json.dumps(as_dict(verifier, best, args.temperature) | rest | timing))
    else:
        print_choice(best, verifier, match, cost, args)
        if timed is not None:
            print_contest(timed)
    return 1 if timed is not None and (timed.behind or 0.0) > ALLOWED else 0


def print_choice(best: Candidate, verifier: str, match: Compatibility, cost: CostTable, args: argparse.Namespace):
    """The choice in words, and how to measure it."""
    mark = "" if match.lossless else " (lossy)"
    print(printable(f"{cost.machine}: {cost.note}"))
    print(
        f"{best.name} with {verifier + mark} at temperature {args.temperature:g}: "
        f"{best.predicted.tokens_per_pass:.2f} tokens a pass, {best.predicted.speedup:.2f} times plain decoding"
    )
    if not match.lossless:
        print(f"lossy: {match.reason}")
    if best.predicted.speedup <= 1:
        print("Plain decoding is faster: no tree pays here.")
    elif args.drafter != "model":
        print(f"measure it: python -m specviz optimize --drafter {args.drafter} --measure")
    elif not cost.projection:
        numbers = {name: value for name, value in asdict(best.builder).items() if name in ("size", "depth", "width")}
        options = " ".join(f"--{name} {value}" for name, value in numbers.items())
        vector = f" --acceptance {args.acceptance}" if args.acceptance and best.builder.name == "sequoia" else ""
        print(
            f"measure it: python -m specviz bench --builder {best.builder.name} --verifier {verifier} {options} "
            f"--temperature {args.temperature:g}{vector}"
        )


def measured_contest(pair, best: Candidate, vector: tuple, verifier: str, args: argparse.Namespace) -> Contest:
    """The grid, and the leaders with the choice once more; Ctrl-C ends it without a result."""
    rule = VERIFIERS[verifier]()
    prompts = whole(prompts_like(pair, built_in_prompts(), args.prompts, seed=1))
    drafter = strategy(args, "drafter", args.drafter)
    config = RunConfig(temperature=args.temperature, verifier=rule, max_new_tokens=64, drafter=drafter)
    others = grid(vector, config)
    last = deque(watched(contest(pair, best.builder, others, rule, config, prompts), "runs"), maxlen=1)
    if not last or last[0].behind is None:
        raise ValueError("the models end every text at once, so nothing could be timed.")
    return last[0]


def print_contest(result: Contest) -> None:
    """Every tree of the grid with its speedup, fastest first, and how far the choice is from the best."""
    for title, timed in (("grid, timed once over", result.first), ("leaders and choice, timed again", result.final)):
        print(f"\n{title}: times plain decoding")
        for trial in sorted(timed, key=lambda trial: -trial.speedup):
            mark = "  <- chosen" if trial.name == result.chosen else ""
            timing = f"{trial.tokens_per_pass:.2f} tokens a pass, {1000 * trial.step_s:.2f} ms a step"
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


def vectors_for(args: argparse.Namespace) -> dict[str, tuple]:
    """Rule -> acceptance vector for every rule that comes into question."""
    RunConfig(temperature=args.temperature)  # raises on a bad one
    if args.verifier:
        strategy(args, "verifier", args.verifier)
    if args.acceptance:
        vector = read_acceptance(args.acceptance)
        name = args.verifier or _named(args.acceptance) or ("exact-match" if args.temperature == 0 else "sequoia")
        return {name: vector}
    known = {row["verifier"] for row in measured(args.drafter) or measured()}
    tree = RunConfig(
        builder=BUILDERS["sequoia"](), temperature=args.temperature, drafter=strategy(args, "drafter", args.drafter)
    )
    fit = [name for name, rule in VERIFIERS.items() if compatible(replace(tree, verifier=rule())).lossless]
    names = [args.verifier] if args.verifier else [name for name in fit if name in known] or fit[:1]
    if args.temperature == 0 and not args.verifier:
        names = ["exact-match"]
    return {name: find_acceptance(name, args.temperature, args.drafter, _pair_named(args)) for name in names}


def _pair_named(args: argparse.Namespace) -> str:
    """The name of the pair asked for, as far as vectors are stored for it."""
    return " + ".join(filter(None, (args.target, args.draft))) or EMBEDDED


def _named(path: str) -> str | None:
    """The rule that an acceptance file was measured with, where it says so."""
    name = json.loads(read_text(path, "acceptance file")).get("verifier")
    return name if name in VERIFIERS else None
