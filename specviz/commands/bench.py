"""`bench`: transformers, plain decoding and every builder side by side on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..acceptance.progress import SoFar
from ..acceptance.vectors import planned_with
from ..builders import BUILDERS
from ..codec import lines
from ..config import RunConfig
from ..drafters import DRAFTERS
from ..files import parse_json, printable, read_text
from ..metrics import plus_minus
from ..paths import HELD_OUT
from ..registry import spelled
from .options import (
    TEMPERATURE,
    add_pair,
    add_sampling,
    add_strategy,
    file_of_another,
    load,
    sampling,
    strategies,
)
from .shape_table import add_shape, print_rows, run_shape
from .watching import printed, shown_at_end, until_stopped

if TYPE_CHECKING:
    from ..benchmarks.against_transformers import Row
    from ..benchmarks.compare_drafters import Row as DrafterRow
    from ..benchmarks.compare_rules import Cell
    from ..benchmarks.greedy_texts import Difference

PROMPTS_HELP = "one prompt per line, or a JSON list of texts in a .json file (default: openings of tales and code)"
FIXED = {"preset rules": ("builder", "verifier", "temperature"), "same-text": ("verifier", "temperature")}
EXAMPLE = "--temperature 0 --rounds 5"
FEW = 10  # of the built-in prompts are timed, tales and code in turn


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser, "builder", "all that are compatible with the pair", several=True)
    add_strategy(parser, "verifier", "the first one that suits builder and temperature", several=True)
    add_strategy(parser, "drafter", "none; each is compared on tales and code at temperature 0 and 0.8", several=True)
    add_sampling(parser)
    parser.set_defaults(temperature=None)  # so that what fixes it can tell whether it was given
    add_pair(parser)
    parser.add_argument("--prompts", metavar="FILE", help=PROMPTS_HELP)
    parser.add_argument(
        "--rounds", type=int, default=3, metavar="N", help="number of rounds over all prompts, from 1 (default 3)"
    )
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument(
        "--preset", choices=["rules"], metavar="NAME",
        help="rules: tokens per target pass of named pairs, no timing (default: none)",
    )  # fmt: skip
    kind.add_argument(
        "--same-text",
        action="store_true",
        help="compare every builder's greedy text with transformers (use --dtype float32)",
    )
    add_shape(parser)
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> int | None:
    if args.rounds < 1:
        raise ValueError(f"--rounds must be at least 1; got {args.rounds}.")
    if args.shape:
        return run_shape(args)
    for name in ("draft_shape", "context", "acceptance"):
        if getattr(args, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} needs --shape.")
    kind = "preset rules" if args.preset else "same-text" if args.same_text else None
    if kind and (named := [name for name in FIXED[kind] if getattr(args, name) is not None]):
        raise ValueError(f"--{kind} sets {', '.join(f'{name}s' for name in FIXED[kind])}; omit --{named[0]}.")
    builders, rules, drafters = (strategies(args, kind) for kind in ("builder", "verifier", "drafter"))
    if drafters and (rules or kind or args.prompts or len(builders) > 1):
        raise ValueError("--drafter allows at most one --builder, --temperature, --rounds and --max-new-tokens.")
    config = RunConfig(
        temperature=TEMPERATURE if args.temperature is None else args.temperature,
        max_new_tokens=args.max_new_tokens, **sampling(args),
    )  # fmt: skip
    given = read_prompts(args.prompts) if args.prompts else None
    from ..benchmarks.against_transformers import bench
    from ..benchmarks.compare_rules import rules_table
    from ..benchmarks.greedy_texts import greedy_differences

    pair = load(args)
    say_what_is_planned(builders, drafters, pair)
    rule = rules[0].name if len(rules) == 1 else None
    if notice := file_of_another(args, pair, (drafters or [DRAFTERS["model"]()])[0], rule, config.temperature):
        print(printable(notice), file=sys.stderr)
    if drafters:
        return compare_drafters(pair, drafters, builders, config, args)
    if args.same_text:
        prompts = given or built_in_prompts()
        found = greedy_differences(pair, prompts, args.max_new_tokens, builders or None)
        texts, stopped = until_stopped(found if args.json else printed(found, different), "prompts")
        if args.json:
            print(lines(texts.known))
        else:
            what = f"{texts.done} prompts x {args.max_new_tokens} tokens in {args.dtype}"
            print(f"{what}: {len(texts.known)} differences")
        return 130 if stopped else 1 if texts.known else 0
    if args.preset == "rules":
        if pair.draft is None:
            raise ValueError("--preset rules needs a draft. Add --draft.")
        table = rules_table(pair, given or built_in_prompts()[:16], min(64, args.max_new_tokens), args.seed)
        return print_cells(table, args.json)
    timed = bench(pair, builders or None, rules or None, given or built_in_prompts()[:FEW], config, args.rounds)
    return shown_at_end(timed if args.json else tables(timed), "runs", args.json, print_rows)


def say_what_is_planned(builders: list, drafters: list, pair: Any) -> None:
    """Print where a tree is planned with a vector that was measured on another pair or drafter."""
    for builder in builders:
        for drafter in drafters or [DRAFTERS["model"]()]:
            if notice := planned_with(builder, drafter, pair.info["name"]):
                print(f"{spelled(builder)} with {spelled(drafter)}: {notice}", file=sys.stderr)


def compare_drafters(pair: Any, drafters: list, builders: list, config: RunConfig, args: argparse.Namespace) -> int:
    """A line for each temperature, kind of text and drafter, as soon as it is known."""
    from ..benchmarks.compare_drafters import compare

    kinds = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    prompts = {"tales": kinds["prose"][: FEW // 2], "code": kinds["code"][: FEW // 2]}
    temperatures = (0.0, 0.8) if args.temperature is None else (args.temperature,)
    builder = builders[0] if builders else BUILDERS["k-ary"]()
    news = compare(pair, drafters, builder, prompts, temperatures, config, args.rounds)
    if not args.json:
        print(f"tree: {spelled(builder)}; speedup over plain decoding, median of {args.rounds} rounds (min to max)")
        print(f"{'drafter':12} {'text':6} {'T':>4} {'tokens/pass':>12} {'draft ms/step':>14} {'passes':>7} speedup")

    def shown(rows: Sequence[DrafterRow]) -> list[str]:
        return [line_of(row) for row in whole_rows(rows, args.rounds)]

    def rest(rows: Sequence[DrafterRow]) -> None:
        for row in rows[len(whole_rows(rows, args.rounds)) :]:
            print(line_of(row))

    return shown_at_end(news if args.json else printed(news, shown), "runs", args.json, rest)


def whole_rows(rows: Sequence[DrafterRow], rounds: int) -> list[DrafterRow]:
    """The rows that have all their rounds; the last ones may not have them yet."""
    return [row for row in rows if row.rounds == rounds]


def line_of(row: DrafterRow) -> str:
    return (
        f"{row.drafter:12} {row.kind:6} {row.temperature:4g} {row.tokens_per_pass:12.2f} {row.draft_ms:14.2f} "
        f"{row.draft_passes:7.2f} {row.speedup:.2f} ({row.low:.2f} to {row.high:.2f})"
    )


def tables(news: Iterable[SoFar[tuple[Row, ...]]]) -> Iterator[SoFar[tuple[Row, ...]]]:
    """Pass news on, and print what is known so far, each time from at least twice as many runs as before."""
    last = 0
    shown: tuple[Row, ...] = ()
    for one in news:
        if one.known != shown and 2 * last <= one.done < one.of:
            last, shown = one.done, one.known
            print(f"after {one.done} of {one.of} runs:")
            print_rows(one.known)
            print(flush=True)
        yield one


def different(differences: Sequence[Difference]) -> list[str]:
    """Where texts differ, a line each."""
    return [
        f"{row.method}: token {row.position} differs after {row.prompt!r:.60}, margin {row.margin:.2e}"
        for row in differences
    ]


def print_cells(news: Iterator[SoFar[tuple[Cell, ...]]], as_json: bool) -> int:
    """Tokens per pass with 95 % intervals, a line per pair, a column per temperature and size."""
    from ..benchmarks.compare_rules import SIZES, TEMPERATURES

    columns = len(TEMPERATURES) * len(SIZES)
    heads = (f"   T {t:g}, {n:3} nodes" for t in TEMPERATURES for n in SIZES)
    if not as_json:
        print(f"{'tokens per target pass':40}{''.join(heads)}", flush=True)

    def shown(cells: Sequence[Cell]) -> list[str]:
        return [line(cells[at : at + columns]) for at in range(0, len(cells) - columns + 1, columns)]

    def line(cells: Sequence[Cell]) -> str:
        numbers = (f"{cell.tokens_per_pass:10.2f}{plus_minus(cell.margin):7}" for cell in cells)
        return f"{cells[0].builder + ' + ' + cells[0].verifier:40}{''.join(numbers)}"

    def rest(cells: Sequence[Cell]) -> None:
        if left := cells[len(shown(cells)) * columns :]:
            print(line(left))

    return shown_at_end(news if as_json else printed(news, shown), "cells", as_json, rest)


def built_in_prompts() -> list[str]:
    """The prompts that no training text holds, prose and code in turn."""
    kinds = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    return [prompt for both in zip(*kinds.values(), strict=False) for prompt in both]


def read_prompts(path: str) -> list[str]:
    """The prompts of a file: one a line, or a JSON list of texts where its name ends in .json."""
    text = read_text(path, "--prompts")
    if not path.lower().endswith(".json"):
        prompts = [line for line in text.splitlines() if line.strip()]
        if not prompts:
            raise ValueError(f"--prompts {path!r} must have at least one line of text.")
        return prompts
    try:
        prompts = parse_json(text)
    except ValueError:
        raise ValueError(f"--prompts {path!r} is not valid JSON. Write a list of texts, or use a .txt file.") from None
    if not (isinstance(prompts, list) and prompts and all(isinstance(one, str) and one.strip() for one in prompts)):
        raise ValueError(f"--prompts {path!r} must be a non-empty JSON list of non-empty texts.")
    return prompts
