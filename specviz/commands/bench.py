"""`bench`: time a grid of builders, rules, drafters, temperatures, sizes and pairs against plain
decoding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict

from ..base.codec import JsonObject, pretty_json
from ..base.files import check_output, file_lock
from ..base.progress import Progress
from ..config.strategy import REGISTRIES
from ..measure import grid
from ..measure.against_engines import TRANSFORMERS, check_engine
from ..measure.against_transformers import compare_greedy
from ..measure.results import append_result, read_results
from ..view.terminal import text_table
from . import options
from .arguments import Arguments, Parser, option
from .display import say, timed_figures, until_stopped, warn, warn_if_busy

FEW = 10  # built-in prompts that are timed
EXAMPLE = (
    "--builder sequoia --builder eagle2 --temperature 0 --temperature 0.8 --size 16 --out "
    "results.jsonl"
)
WITH_GRID = {"grid", "out", "json", "markdown", "plugin", "help"}
IN_DOCUMENTS = ("pair", "builder", "rule", "drafter", "T", "tokens/pass", "times plain", "tokens/s")
TEXTS = {"prompts", "column", "max_new_tokens"}
WITH_SAME_TEXT = {*grid.LOADING, *TEXTS, "same_text", "builder", "json", "plugin", "help"}


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "grid",
        metavar="FILE",
        nargs="?",
        help=(
            f"TOML or JSON with any of {', '.join(grid.ENTRIES)}, in place of the options "
            "(default: none)"
        ),
    )
    options.add_strategy(parser, "builder", "all", several=True)
    options.add_strategy(
        parser, "verifier", "the first one that suits builder and temperature", several=True
    )
    options.add_strategy(parser, "drafter", "the draft model", several=True)
    options.add_sampling(parser, several="0.8")
    options.add_pair(parser)
    options.add_prompts(parser)
    option(
        parser,
        "--size N",
        "nodes of the trees, repeat for several: from 2 to 1024",
        int,
        several=True,
    )
    option(parser, "--max-new-tokens M", "tokens per run, from 1", int, 64)
    option(parser, "--rounds N", "number of rounds over all prompts, from 1", int, 1)
    option(parser, "--transformers", "also time generation with transformers, plain and assisted")
    option(
        parser,
        "--against ENGINE:MODEL",
        "also time another engine in turns, in tokens per second, repeat for several: "
        "llama.cpp:FILE.gguf (pip install xllamacpp), openvino:FILE.gguf or a folder of its "
        "format (pip install openvino-genai)",
        several=True,
    )
    option(parser, "--same-text", "compare greedy texts with transformers (use --dtype float32)")
    option(
        parser,
        "--out FILE",
        "append results, a JSON object a line; what is there is not measured again",
    )
    form = parser.add_mutually_exclusive_group()
    option(form, "--json", "print the outcomes as JSON")
    option(form, "--markdown", "print a short table for a document")


def run(args: Arguments) -> int:
    if args.same_text:
        options.reject(args, args.defaults.keys() - WITH_SAME_TEXT, "with --same-text")
        return compare_texts(args)
    if args.grid:
        options.reject(args, args.defaults.keys() - WITH_GRID, "with a grid file")
    if args.out:
        check_output(args.out, args.grid, args.prompts)
    data = grid.read_grid(args.grid) if args.grid else grid_of(args)
    cells, prompts = grid.cells_of(data, options.prompts_of(args, FEW))
    # Two runs that append to one file would each miss the other's results.
    with file_lock(args.out) if args.out else nullcontext():
        results = read_results(args.out)
        # What is in the file is not measured again, but failures are.
        missing = []
        for cell in cells:
            if cell.key not in results or "failed" in results[cell.key]:
                missing.append(cell)
        if args.out:
            there = f"{len(cells) - len(missing)} of them in {args.out}"
            warn(f"{len(cells)} cells, {there}")
        updates = measure(missing, prompts, args, results)
        stopped = bool(missing) and until_stopped(updates, "cells")[1]
    # In the order of the grid, and only its cells: a file may hold others.
    outcomes = [results[cell.key] for cell in cells if cell.key in results]
    rows = []
    try:
        for outcome in outcomes:
            if "result" in outcome:
                rows += rows_of(outcome)
    except (KeyError, TypeError, ValueError, OverflowError):
        raise ValueError(
            f"results {args.out!r} are damaged: a result lacks its numbers. Remove its line."
        ) from None
    if args.json:
        print(pretty_json(outcomes))
    elif args.markdown:
        documented = []
        for row in rows:
            documented.append({name: row[name] for name in IN_DOCUMENTS})
        print(text_table(documented, 2, True))
    else:
        print_outcomes(rows, outcomes)
    failed = any("failed" in outcome for outcome in outcomes)
    if stopped:
        return 130
    return int(failed)


def grid_of(args: Arguments) -> JsonObject:
    """The grid that the options describe."""
    options.check_draft(args, args.draft)
    pair = {}
    # What is left at its default is left out, so that a file of results stays valid.
    for name in grid.LOADING:
        value = getattr(args, name)
        if value not in (None, "auto"):
            pair[name] = value
    lists: JsonObject = {
        f"{kind}s": [*map(str, options.strategies(args, kind))] for kind in REGISTRIES
    }
    engines = list(map(check_engine, args.against or ()))
    if args.transformers:
        engines += TRANSFORMERS
    if engines:
        lists["builders"] = [*(lists["builders"] or ["all"]), *engines]
    # A list that nobody gave is left out: the grid's own default stands for it.
    lists |= {"pairs": [pair or "embedded"], "temperatures": args.temperature, "sizes": args.size}
    numbers = {}
    for name in ("max_new_tokens", "seed", "rounds", *grid.ROWS):
        numbers[name] = getattr(args, name)
    return {name: value for name, value in lists.items() if value} | numbers


def measure(
    cells: list[grid.Cell],
    prompts: Sequence[str],
    args: Arguments,
    results: dict[str, JsonObject],
) -> Iterator[Progress[JsonObject]]:
    """Measure cells, each stored as it comes."""
    for done, cell in enumerate(cells, 1):
        outcome = grid.measure_cell(cell, prompts)
        if args.out:
            # At once: a night's work that is ended loses one cell at most.
            append_result(args.out, outcome)
        results[cell.key] = outcome
        yield Progress(done, len(cells), result=outcome)


def rows_of(outcome: JsonObject) -> list[JsonObject]:
    """A result as a row of the table, and one of each category of the prompts."""
    cell = outcome["cell"]
    result = outcome["result"]
    # Short names: the table has a line for each cell.
    spec = cell["pair"]
    pair = spec.get("target") or ("toy" if "toy" in spec else "embedded")
    run = {
        "pair": f"{pair}, {spec['offload']}" if "offload" in spec else pair,
        "builder": f"{cell['builder']} {cell.get('size', '')}".rstrip(),
        "rule": cell.get("verifier", ""),
        # What it was asked for, or what stands for it in the pair, such as the pair's head.
        "drafter": result.get("drafter", cell.get("drafter", "")),
        "T": f"{cell['temperature']:g}",
    }
    lossy = {"": "" if result["lossless"] else "lossy"}
    rows = [run | _figures(result) | lossy]
    for category, figures in result.get("categories", {}).items():
        named = {"builder": f"  {category or 'no category'}", "rule": "", "T": ""}
        rows.append(run | named | _figures(figures) | lossy)
    return rows


def _figures(result: JsonObject) -> JsonObject:
    # The rest are the rule's arithmetic and all that is neither.
    draft, target, *others = result["parts_ms"].values()
    tokens, speedup = timed_figures(result)
    return {
        "nodes": float(result["nodes"]),
        "plain ms": float(result["plain_ms"]),
        "step ms": float(result["step_ms"]),
        "draft": draft,
        "target": target,
        "rest": sum(others),
        "tokens/pass": tokens,
        "times plain": speedup,
        "min": float(result["low"]),
        "max": float(result["high"]),
        "tokens/s": float(result["tokens_per_s"]),
    }


def print_outcomes(rows: list[JsonObject], outcomes: list[JsonObject]) -> None:
    """The results as a table without columns that are the same for all, then what could not be
    measured."""
    if rows:
        print(
            "± 95 % over prompts; plain ms: milliseconds per token of plain decoding next "
            "to each row"
        )
        alike = {}
        # A column that says the same in every row goes above the table; "" is that of lossy rows.
        for name in ("pair", "drafter", ""):
            if len({row[name] for row in rows}) == 1:
                alike[name] = f"{name}: {rows[0][name]}"
        say(", ".join(alike[name] for name in alike if name))
        different = []
        for row in rows:
            different.append({name: value for name, value in row.items() if name not in alike})
        print(text_table(different))
    busy = [0.0]
    for outcome in outcomes:
        cell = outcome["cell"]
        result = outcome.get("result", {})
        busy.append(result.get("busy_cores") or 0.0)
        # What each engine was fastest with, since a comparison is of the best that each can do.
        for side, used in result.get("settings", {}).items():
            where = f"{used['dtype']} on {used['threads']} threads"
            say(f"{cell['builder']}: {side} in {where}")
        for kind in outcome.keys() & {"impossible", "failed"}:
            what = f"{cell['builder']} + {cell.get('verifier', '')}, T {cell['temperature']:g}"
            say(f"{what}: {kind}: {outcome[kind]}")
    warn_if_busy(max(busy))


def compare_texts(args: Arguments) -> int:
    """Compare greedy texts with those of transformers; exit code 1 if one differs."""
    pair = options.load(args)
    prompts = options.prompts_of(args)
    updates = compare_greedy(pair, prompts, args.max_new_tokens, args.builder or ())
    texts, stopped = until_stopped(updates, "prompts")
    different = [text for text in texts if not text[2].equal]
    if args.json:
        rows = [{"method": writer, "prompt": at} | asdict(text) for writer, at, text in different]
        print(pretty_json(rows))
    else:
        for writer, prompt, text in different:
            sentence = text.sentence(pair.info.get("dtype"))
            say(f"{writer}, after {prompt!r:.60}: {sentence}")
        done = len({prompt for _, prompt, _ in texts})
        print(
            f"{done} prompts x {args.max_new_tokens} tokens in {args.dtype}: "
            f"{len(different)} differences"
        )
    if stopped:
        return 130
    return int(bool(different))
