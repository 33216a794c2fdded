"""`sweep`: measure a grid of cells; existing results are not measured again."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..acceptance.progress import SoFar
from ..benchmarks.sweep import Results, here, on_ray
from ..benchmarks.sweep_grid import cells_of, key_of, read_grid
from ..errors import reject_given
from ..files import check_output, held, printable
from ..metrics import plus_minus
from .bench import built_in_prompts
from .watching import watched

EXAMPLE = "grid.toml --out results.jsonl"
PROMPTS = 8  # of the built-in ones, where the grid has none of its own


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "config", metavar="CONFIG",
        help="JSON or TOML with lists under pairs (embedded, toy, or target, draft, device and dtype), builders, "
        "verifiers, drafters, temperatures, sizes, kinds (bench, calibrate) and prompts, and with max_new_tokens, seed "
        "and width",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="FILE", help="results, one JSON object per line (default: CONFIG.results.jsonl)"
    )
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="measure on this Ray cluster; needs ray (default: this machine)"
    )
    parser.add_argument("--cpus", type=float, default=1, metavar="N", help="CPUs per cell, from 0 (default 1)")
    parser.add_argument("--gpus", type=float, default=0, metavar="N", help="GPUs per cell, from 0 (default 0)")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")


def run(args: argparse.Namespace) -> int:
    if not args.ray:
        reject_given(args, ("cpus", "gpus"), "without --ray")
    cells, prompts = cells_of(read_grid(args.config), built_in_prompts()[:PROMPTS])
    if not (args.cpus >= 0 and args.gpus >= 0):
        raise ValueError("--cpus and --gpus must be numbers from 0.")
    path = args.out or str(Path(args.config).with_suffix(".results.jsonl"))
    check_output(path, args.config)
    try:
        results = measure(path, cells, prompts, args)
    except OSError as error:
        raise ValueError(f"{path!r} cannot be written: {error.strerror}.") from None
    wanted = [results.outcomes[key_of(cell)] for cell in cells]
    try:
        lines = list(map(line_of, wanted))
    except (KeyError, TypeError, ValueError):
        raise ValueError(f"results {path!r} are damaged: a result lacks its numbers. Remove its line.") from None
    print(json.dumps(wanted, indent=1) if args.json else printable("\n".join(lines)))
    return 1 if any("failed" in outcome for outcome in wanted) else 0


def measure(path: str, cells: list[dict], prompts: list[str], args: argparse.Namespace) -> Results:
    """Measure what the file of results lacks, while no other sweep writes it."""
    with held(path):
        results = Results(path)
        todo = [cell for cell in cells if results.lacks(cell)]
        there = f"{len(cells) - len(todo)} of them in {printable(path)} already"
        print(f"{len(cells)} cells, {there}", file=sys.stderr, flush=True)
        outcomes = on_ray(todo, prompts, args.ray, args.cpus, args.gpus) if args.ray else here(todo, prompts)
        for outcome in watched((SoFar(done, len(todo), one) for done, one in enumerate(outcomes, 1)), "cells"):
            results.add(outcome.known)
    return results


def line_of(outcome: dict[str, Any]) -> str:
    """An outcome as one line."""
    cell = outcome["cell"]
    names = [cell[part] for part in ("builder", "verifier", "drafter") if part in cell]
    size = f", {cell['size']} nodes" if cell.get("size") else ""
    pair = cell["pair"].get("target") or ("toy" if "toy" in cell["pair"] else "embedded")
    what = f"{pair}: {' + '.join(names)}{size}, T {cell['temperature']:g}"
    if "result" not in outcome:
        kind = "impossible" if "impossible" in outcome else "failed"
        return f"{what}: {kind}: {outcome[kind]}"
    result = outcome["result"]
    if cell["kind"] == "calibrate":
        return f"{what}: acceptance {' '.join(f'{p:.3f}' for p in result['acceptance'][:6])}"
    mark = "" if result["lossless"] else " (lossy)"
    rate = "" if result["tokens_per_s"] is None else f", {result['tokens_per_s']:.1f} tokens/s"
    speedup = result.get("speedup")  # results of earlier versions have none
    faster = "" if speedup is None else f", {speedup:.2f}{plus_minus(result['speedup_margin'])} times plain"
    return f"{what}{mark}: {result['tokens_per_pass']:.2f}{plus_minus(result['margin'])} tokens per pass{rate}{faster}"
