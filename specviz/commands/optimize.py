"""`optimize`: the tree that should be fastest on this machine, or on a named one."""

from __future__ import annotations

import argparse
import json

from ..acceptance import find_acceptance, measured, read_acceptance
from ..builders import BUILDERS
from ..config import Choice, RunConfig
from ..cost import PROMPT
from ..forecast import Cell, forecast
from ..protocols import compatible
from ..verifiers import VERIFIERS
from .cost import add_machine, table_for
from .options import add_pair, strategy

HELP = "Choose the tree size, depth and rule of largest predicted speedup on this machine."
EXAMPLE = "--temperature 0.8 --machine a100 --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--temperature", type=float, default=0.8, metavar="T", help="the target's (default 0.8)")
    parser.add_argument("--acceptance", metavar="FILE", help="vector as `calibrate --json` prints it (default: stored)")
    parser.add_argument("--verifier", help="only this rule (default: the best of those with a known vector)")
    parser.add_argument("--cost", metavar="FILE", help="table as `cost --json` prints it (default: measured now)")
    add_machine(parser)
    add_pair(parser)
    parser.add_argument("--json", action="store_true", help="print the choice as JSON")


def run(args: argparse.Namespace) -> None:
    vectors = vectors_for(args)
    matches = {name: compatible(BUILDERS["sequoia"](), VERIFIERS[name](), args.temperature) for name in vectors}
    for match in matches.values():
        if not match.possible:
            raise ValueError(match.reason)
    rule = Choice.of(VERIFIERS[next(iter(vectors))]())
    cost = table_for(args, RunConfig(PROMPT, temperature=args.temperature, verifier=rule))
    best = {name: forecast(vector, cost).best for name, vector in vectors.items()}
    verifier = max(best, key=lambda name: best[name].speedup)
    cell, match = best[verifier], matches[verifier]
    if args.json:
        rest = {"lossless": match.lossless, "machine": cost.machine, "note": cost.note}
        print(json.dumps(as_dict(verifier, cell, args.temperature) | rest))
        return
    mark = "" if match.lossless else " (lossy)"
    print(f"{cost.machine}: {cost.note}")
    print(
        f"sequoia tree of {cell.size} nodes and {cell.depth} levels with {verifier + mark} at temperature "
        f"{args.temperature:g}: {cell.tokens_per_pass:.2f} tokens a pass, {cell.speedup:.2f} times plain decoding"
    )
    if not match.lossless:
        print(f"lossy: {match.reason}")
    if cell.speedup <= 1:
        print("Plain decoding is faster: no tree pays here.")
    elif not cost.projection:
        print(
            f"measure it: python -m specviz bench --builder sequoia --verifier {verifier} --size {cell.size} "
            f"--depth {cell.depth} --temperature {args.temperature:g}"
            + (f" --acceptance {args.acceptance}" if args.acceptance else "")
        )


def as_dict(verifier: str, cell: Cell, temperature: float) -> dict:
    """The choice as plain data."""
    return {
        "builder": "sequoia", "verifier": verifier, "size": cell.size, "depth": cell.depth, "temperature": temperature,
        "tokens_per_pass": cell.tokens_per_pass, "speedup": cell.speedup, "step_s": cell.step_s, "parts": cell.parts,
        "pays": cell.speedup > 1,
    }  # fmt: skip


def vectors_for(args: argparse.Namespace) -> dict[str, tuple]:
    """Rule -> acceptance vector for every rule that comes into question."""
    RunConfig(temperature=args.temperature)  # raises on a bad one
    if args.verifier:
        strategy(args, "verifier", args.verifier)
    if args.acceptance:
        vector = read_acceptance(args.acceptance)
        name = args.verifier or _named(args.acceptance) or ("exact-match" if args.temperature == 0 else "sequoia")
        return {name: vector}
    known = {row["verifier"] for row in measured()}
    tree = BUILDERS["sequoia"]()
    fit = [name for name, rule in VERIFIERS.items() if compatible(tree, rule(), args.temperature).lossless]
    names = [args.verifier] if args.verifier else [name for name in fit if name in known] or fit[:1]
    if args.temperature == 0 and not args.verifier:
        names = ["exact-match"]
    return {name: find_acceptance(name, args.temperature) for name in names}


def _named(path: str) -> str | None:
    """The rule that an acceptance file was measured with, where it says so."""
    with open(path, encoding="utf-8") as file:
        name = json.load(file).get("verifier")
    return name if name in VERIFIERS else None
