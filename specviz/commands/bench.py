"""`bench`: transformers, plain decoding and every builder side by side on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..acceptance.progress import SoFar
from ..acceptance.vectors import planned_with
from ..builders import BUILDERS
from ..codec import lines
from ..config import RunConfig
from ..drafters import DRAFTERS
from ..files import HELD_OUT, parse_json, printable, read_text
from ..strategy import format_strategy
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
from .watching import shown_at_end, until_stopped

if TYPE_CHECKING:
    from ..benchmarks.greedy_texts import Difference
    from ..benchmarks.trials import Trial

PROMPTS_HELP = "one prompt per line, or a JSON list of texts in a .json file (default: openings of tales and code)"
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
    parser.add_argument(
        "--same-text",
        action="store_true",
        help="compare every builder's greedy text with transformers (use --dtype float32)",
    )
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> int | None:
    if args.rounds < 1:
        raise ValueError(f"--rounds must be at least 1; got {args.rounds}.")
    if args.same_text and (named := [name for name in ("verifier", "temperature") if getattr(args, name) is not None]):
        raise ValueError(f"--same-text sets verifiers, temperatures; omit --{named[0]}.")
    builders, rules, drafters = (strategies(args, kind) for kind in ("builder", "verifier", "drafter"))
    if drafters and (rules or args.same_text or args.prompts or len(builders) > 1):
        raise ValueError("--drafter allows at most one --builder, --temperature, --rounds and --max-new-tokens.")
    config = RunConfig(
        temperature=TEMPERATURE if args.temperature is None else args.temperature,
        max_new_tokens=args.max_new_tokens, **sampling(args),
    )  # fmt: skip
    given = read_prompts(args.prompts) if args.prompts else None
    from ..benchmarks.against_transformers import bench
    from ..benchmarks.greedy_texts import greedy_differences

    pair = load(args)
    say_what_is_planned(builders, drafters, pair)
    rule = rules[0].name if len(rules) == 1 else None
    if notice := file_of_another(args, pair, (drafters or [DRAFTERS["model"]()])[0], rule, config.temperature):
        print(printable(notice), file=sys.stderr)
    if drafters:
        return shown(drafted(pair, drafters, builders, config, args), args.json)
    if args.same_text:
        prompts = given or built_in_prompts()
        texts, stopped = until_stopped(
            greedy_differences(pair, prompts, args.max_new_tokens, builders or None), "prompts"
        )
        if args.json:
            print(lines(texts.known))
        else:
            what = f"{texts.done} prompts x {args.max_new_tokens} tokens in {args.dtype}"
            print("\n".join([*different(texts.known), f"{what}: {len(texts.known)} differences"]))
        return 130 if stopped else 1 if texts.known else 0
    timed = bench(pair, builders or None, rules or None, given or built_in_prompts()[:FEW], config, args.rounds)
    return shown(timed, args.json)


def shown(news: Iterator[SoFar[tuple[Trial, ...]]], as_json: bool) -> int:
    """Print rows as they come and at the end; returns the exit code."""
    return shown_at_end(news if as_json else tables(news), "runs", as_json, print_rows)


def say_what_is_planned(builders: list, drafters: list, pair: Any) -> None:
    """Print where a tree is planned with a vector that was measured on another pair or drafter."""
    for builder in builders:
        for drafter in drafters or [DRAFTERS["model"]()]:
            if notice := planned_with(builder, drafter, pair.info["name"]):
                print(f"{format_strategy(builder)} with {format_strategy(drafter)}: {notice}", file=sys.stderr)


def drafted(
    pair: Any, drafters: list, builders: list, config: RunConfig, args: argparse.Namespace
) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """A row for each temperature, kind of text and drafter."""
    from ..benchmarks.compare_drafters import compare

    kinds = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    prompts = {"tales": kinds["prose"][: FEW // 2], "code": kinds["code"][: FEW // 2]}
    temperatures = (0.0, 0.8) if args.temperature is None else (args.temperature,)
    builder = builders[0] if builders else BUILDERS["k-ary"]()
    if not args.json:
        print(f"tree: {format_strategy(builder)}")
    return compare(pair, drafters, builder, prompts, temperatures, config, args.rounds)


def tables(news: Iterable[SoFar[tuple[Trial, ...]]]) -> Iterator[SoFar[tuple[Trial, ...]]]:
    """Pass news on, and print what is known so far, each time from at least twice as many runs as before."""
    last = 0
    shown: tuple[Trial, ...] = ()
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
