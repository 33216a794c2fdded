"""`bench`: time a grid of builders, rules, drafters, temperatures, sizes and pairs against plain decoding."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from ..benchmarks.cells import measure_cells, on_ray
from ..benchmarks.grid import LISTS, LOADING, NUMBERS, ROWS, TRANSFORMERS, cells_of, read_grid
from ..benchmarks.quiet import MAX_CORES
from ..benchmarks.results import Results
from ..codec import lines
from ..files import check_output, file_lock, printable
from ..metrics import plus_minus
from ..progress import Progress
from .display import print_table, until_stopped
from .options import add_pair, add_rows, add_strategy, check_draft, load, reject_given, strategies, strategy
from .prompts import FEW, add_prompts, built_in_prompts, prompts_of

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
    parser.add_argument(
        "--temperature", type=float, action="append", metavar="T",
        help="temperature of the target, repeat for several: 0, or from 0.001 (default 0.8)",
    )  # fmt: skip
    parser.add_argument(
        "--size", type=int, action="append", metavar="N",
        help="nodes of the trees, repeat for several: from 2 to 1024 (default: as the builder's parameters say)",
    )  # fmt: skip
    add_rows(parser)
    parser.add_argument(
        "--max-new-tokens", type=int, default=64, metavar="M", help="tokens per run, from 1 (default 64)"
    )
    add_pair(parser)
    add_prompts(parser)
    parser.add_argument(
        "--rounds", type=int, default=1, metavar="N", help="number of rounds over all prompts, from 1 (default 1)"
    )
    parser.add_argument(
        "--transformers", action="store_true", help="also time generation with transformers, plain and assisted"
    )
    parser.add_argument(
        "--same-text", action="store_true",
        help="compare every builder's greedy text with transformers instead (use --dtype float32)",
    )  # fmt: skip
    parser.add_argument(
        "--out", metavar="FILE", help="append results, one JSON object a line; what is there is not measured again "
        "(default: only print)",
    )  # fmt: skip
    parser.add_argument(
        "--ray", metavar="ADDRESS", help="measure on this Ray cluster; needs ray (default: this machine)"
    )
    parser.add_argument("--cpus", type=float, default=1, metavar="N", help="CPUs per cell, from 0 (default 1)")
    parser.add_argument("--gpus", type=float, default=0, metavar="N", help="GPUs per cell, from 0 (default 0)")
    parser.add_argument("--json", action="store_true", help="print the outcomes as JSON")


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
    cells, prompts = cells_of(read_grid(args.grid) if args.grid else grid_of(args), built_in_prompts()[:FEW])
    results: Results | None = None
    if args.out:
        with file_lock(args.out):
            results = Results(args.out)
            missing = results.missing(cells)
            print(f"{len(cells)} cells, {len(cells) - len(missing)} of them in {printable(args.out)}", file=sys.stderr)
            stopped = measure(missing, prompts, args, results)
        outcomes = list(results.of(cells))
    else:
        outcomes = []
        stopped = measure(cells, prompts, args, outcomes)
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


def measure(cells: list[dict], prompts: list[str], args: argparse.Namespace, sink: Results | list) -> bool:
    """Measure cells, each stored as it comes; returns whether Ctrl-C ended it."""
    if not cells:
        return False
    outcomes = on_ray(cells, prompts, args.ray, args.cpus, args.gpus) if args.ray else measure_cells(cells, prompts)
    add = sink.add if isinstance(sink, Results) else sink.append

    def stored() -> Iterator[Progress[Any]]:
        for done, outcome in enumerate(outcomes, 1):
            try:
                add(outcome)
            except OSError as error:
                raise ValueError(f"{args.out!r} cannot be written: {error.strerror}.") from None
            yield Progress(done, len(cells), result=outcome)

    try:
        return until_stopped(stored(), "cells")[1]
    except KeyboardInterrupt:
        if args.out or sink:
            return True
        raise


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


def print_outcomes(rows: list[dict[str, Any]], outcomes: Iterable[dict[str, Any]]) -> None:
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
    busy = max((outcome["result"].get("busy_cores") or 0.0 for outcome in outcomes if "result" in outcome), default=0.0)
    if busy > MAX_CORES:
        print(f"The machine was busy: other processes used up to {busy:.1f} cores. Repeat this when it is idle.")


def compare_texts(args: argparse.Namespace) -> int:
    """Compare greedy texts with transformers; exit code 1 if one differs."""
    from ..benchmarks.greedy_texts import greedy_differences

    pair, prompts = load(args), prompts_of(args)
    (found, done), stopped = until_stopped(
        (
            Progress(update.done, update.total, result=(update.result, update.done))
            for update in greedy_differences(pair, prompts, args.max_new_tokens, args.builder or ())
        ),
        "prompts",
    )
    if args.json:
        print(json.dumps([one.to_dict() for one in found]))
    else:
        for one in found:
            print(
                printable(
                    f"{one.method}: token {one.position} differs after {one.prompt!r:.60}, margin {one.margin:.2e}"
                )
            )
        print(f"{done} prompts x {args.max_new_tokens} tokens in {args.dtype}: {len(found)} differences")
    return 130 if stopped else 1 if found else 0
