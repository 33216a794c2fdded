"""`bench`: time a grid of builders, rules, drafters, temperatures, sizes and pairs against plain decoding."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from typing import Any

from ..acceptance.progress import Progress
from ..benchmarks.cells import measure_cells, on_ray
from ..benchmarks.grid import LISTS, LOADING, NUMBERS, ROWS, TRANSFORMERS, cells_of, read_grid
from ..benchmarks.results import Results
from ..benchmarks.this_machine import prompts as built_in_prompts
from ..codec import lines
from ..files import check_output, file_lock, printable
from ..metrics import plus_minus
from .display import print_table, until_stopped, warn_if_busy
from .options import (
    SEVERAL,
    add_pair,
    add_rows,
    add_strategy,
    add_temperature,
    check_draft,
    load,
    reject_given,
    strategies,
    strategy,
)
from .prompts import add_prompts, prompts_of

FEW = 10  # built-in prompts that are timed
EXAMPLE = "--builder sequoia --builder eagle2 --temperature 0 --temperature 0.8 --size 16 --out results.jsonl"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "grid", metavar="FILE", nargs="?",
        help=f"TOML or JSON with any of {', '.join(LISTS)}, {', '.join(NUMBERS)}, {', '.join(ROWS)} and prompts, in "
        "place of the options (default: none)",
    )  # fmt: skip
    add_strategy(parser, "builder", "all", several=True)
    add_strategy(parser, "verifier", "the first one that suits builder and temperature", several=True)
    add_strategy(parser, "drafter", "the draft model", several=True)
    add_temperature(parser, several="0.8")
    add_rows(parser)
    add_pair(parser)
    add_prompts(parser)
    add = parser.add_argument
    add("--size", type=int, action="append", metavar="N", help=f"nodes of the trees{SEVERAL}: from 2 to 1024")
    add("--max-new-tokens", type=int, default=64, metavar="M", help="tokens per run, from 1")
    add("--rounds", type=int, default=1, metavar="N", help="number of rounds over all prompts, from 1")
    add("--transformers", action="store_true", help="also time generation with transformers, plain and assisted")
    add("--same-text", action="store_true", help="compare greedy texts with transformers (use --dtype float32)")
    add("--out", metavar="FILE", help="append results, a JSON object a line; what is there is not measured again")
    add("--ray", metavar="ADDRESS", help="measure on this Ray cluster; needs ray (default: this machine)")
    add("--cpus", type=float, default=1, metavar="N", help="CPUs per cell, from 0")
    add("--gpus", type=float, default=0, metavar="N", help="GPUs per cell, from 0")
    add("--json", action="store_true", help="print the outcomes as JSON")


OPTIONS = ("builder", "verifier", "drafter", "temperature", "size", "max_new_tokens", "rounds", "seed",
           "draft_temperature", "top_p", "top_k", *LOADING, "prompts", "transformers")  # fmt: skip
GREEDY = ("verifier", "drafter", "temperature", "size", "rounds", "transformers", "out", "ray", "top_p", "top_k",
          "draft_temperature", "seed")  # fmt: skip


def run(args: argparse.Namespace) -> int:
    if not args.ray:
        reject_given(args, ("cpus", "gpus"), "without --ray")
    if not (args.cpus >= 0 and args.gpus >= 0):
        raise ValueError("--cpus and --gpus must be numbers from 0.")
    if args.same_text:
        reject_given(args, GREEDY, "with --same-text")
        return compare_texts(args)
    if args.grid:
        reject_given(args, OPTIONS, "with a grid file")
    if args.out:
        check_output(args.out, args.grid, args.prompts)
    cells, prompts = cells_of(read_grid(args.grid) if args.grid else grid_of(args), built_in_prompts(FEW))
    with file_lock(args.out) if args.out else nullcontext():
        results = Results(args.out)
        missing = results.missing(cells)
        if args.out:
            print(f"{len(cells)} cells, {len(cells) - len(missing)} of them in {printable(args.out)}", file=sys.stderr)
        stopped = bool(missing) and measure(missing, prompts, args, results)
    outcomes = list(results.of(cells))
    try:
        rows = [row_of(outcome) for outcome in outcomes if "result" in outcome]
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(f"results {args.out!r} are damaged: a result lacks its numbers. Remove its line.") from None
    if args.json:
        print(lines(outcomes))
    else:
        print_outcomes(rows, outcomes)
    return 130 if stopped else 1 if any("failed" in outcome for outcome in outcomes) else 0


def grid_of(args: argparse.Namespace) -> dict[str, Any]:
    """The grid that the options describe."""
    check_draft(args, args.draft)
    pair = {name: value for name in LOADING if (value := getattr(args, name)) not in (None, "auto")}
    named = {kind: [str(one) for one in strategies(args, kind)] for kind in ("verifier", "drafter")}
    builders = [text if text == "all" else str(strategy(args, "builder", text)) for text in args.builder or ["all"]]
    lists = {
        "pairs": [pair or "embedded"],
        "builders": [*builders, *(TRANSFORMERS if args.transformers else ())],
        "verifiers": named["verifier"], "drafters": named["drafter"], "temperatures": args.temperature,
        "sizes": args.size,
        "prompts": prompts_of(args) if args.prompts else None,
    }  # fmt: skip
    numbers = {name: getattr(args, name) for name in NUMBERS}
    rows = {name: value for name in ROWS if (value := getattr(args, name)) not in (None, 1.0)}
    return {name: value for name, value in lists.items() if value} | numbers | rows


def measure(cells: list[dict], prompts: list[str], args: argparse.Namespace, results: Results) -> bool:
    """Measure cells, each stored as it comes; returns whether Ctrl-C ended it."""

    def stored() -> Iterator[Progress[Any]]:
        some = on_ray(cells, prompts, args.ray, args.cpus, args.gpus) if args.ray else measure_cells(cells, prompts)
        for done, outcome in enumerate(some, 1):
            try:
                results.add(outcome)
            except OSError as error:
                raise ValueError(f"{args.out!r} cannot be written: {error.strerror}.") from None
            yield Progress(done, len(cells), result=outcome)

    try:
        return until_stopped(stored(), "cells")[1]
    except KeyboardInterrupt:
        if not args.out:
            raise  # before there was anything
        return True


def row_of(outcome: dict[str, Any]) -> dict[str, Any]:
    """A result as a row of the table."""
    cell, result = outcome["cell"], outcome["result"]
    pair = cell["pair"].get("target") or ("toy" if "toy" in cell["pair"] else "embedded")
    size = f" {cell['size']}" if cell.get("size") else ""
    return {
        "pair": f"{pair}, {cell['pair']['offload']}" if "offload" in cell["pair"] else pair,
        "builder": f"{cell['builder']}{size}", "rule": cell.get("verifier", ""), "drafter": cell.get("drafter", ""),
        "T": f"{cell['temperature']:g}", "nodes": float(result["nodes"]), "plain ms": float(result["plain_ms"]),
        "step ms": float(result["step_ms"]),
        "tokens/pass": f"{result['tokens_per_pass']:.2f}{plus_minus(result['tokens_margin'])}",
        "times plain": f"{result['speedup']:.2f}{plus_minus(result['speedup_margin'])}",
        "tokens/s": float(result["tokens_per_s"]), "": "" if result["lossless"] else "lossy",
    }  # fmt: skip


def print_outcomes(rows: list[dict[str, Any]], outcomes: list[dict[str, Any]]) -> None:
    """The results as a table without columns that are the same for all, then what could not be measured."""
    if rows:
        print("± 95 % over prompts; plain ms: milliseconds per token of plain decoding next to each row")
        shared = {name for name in ("pair", "drafter", "") if len({row[name] for row in rows}) == 1}
        print(*(f"{name}: {printable(rows[0][name])}" for name in ("pair", "drafter") if name in shared), sep=", ")
        print_table([{name: value for name, value in row.items() if name not in shared} for row in rows])
    for outcome in outcomes:
        if "result" not in outcome:
            kind = "impossible" if "impossible" in outcome else "failed"
            cell = outcome["cell"]
            what = f"{cell['builder']} + {cell.get('verifier', '')}, T {cell['temperature']:g}"
            print(printable(f"{what}: {kind}: {outcome[kind]}"))
    warn_if_busy(max((outcome.get("result", {}).get("busy_cores") or 0.0 for outcome in outcomes), default=0.0))


def compare_texts(args: argparse.Namespace) -> int:
    """Compare greedy texts with transformers; exit code 1 if one differs."""
    from ..benchmarks.greedy_texts import greedy_differences

    pair, prompts = load(args), prompts_of(args)
    updates = greedy_differences(pair, prompts, args.max_new_tokens, args.builder or ())
    (found, done), stopped = until_stopped(
        (Progress(one.done, one.total, result=(one.result, one.done)) for one in updates), "prompts"
    )
    if args.json:
        print(lines(found))
    else:
        for one in found:
            text = f"{one.method}: token {one.position} differs after {one.prompt!r:.60}, margin {one.margin:.2e}"
            print(printable(text))
        print(f"{done} prompts x {args.max_new_tokens} tokens in {args.dtype}: {len(found)} differences")
    return 130 if stopped else 1 if found else 0
