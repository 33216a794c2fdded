"""`bench`: transformers, plain decoding and every builder side by side on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from ..config import RunConfig
from .options import add_pair, add_sampling, add_strategy, loading, refuse_unused, strategy
from .shape_table import add_shape, print_rows, run_shape

HELP = "Time transformers' generation, plain decoding and tree speculation side by side."
HELD_OUT = Path(__file__).resolve().parent.parent / "training" / "prompts.json"
FIXED = {"preset rules": ("builder", "verifier", "temperature"), "same-text": ("verifier", "temperature")}
EXAMPLE = "--temperature 0 --dtype auto --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser)
    parser.set_defaults(builder=None)
    add_sampling(parser, temperature=0)
    parser.set_defaults(temperature=None)  # so that what fixes it can tell whether it was given
    add_pair(parser)
    parser.add_argument("--prompts", metavar="FILE", help="one prompt a line, instead of the built-in ones")
    parser.add_argument("--rounds", type=int, default=3, help="how often each method runs (default 3)")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--preset", choices=["rules"], help="rules: tokens per target pass of named pairs, no timing")
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
    for name in ("draft_shape", "context"):
        if getattr(args, name) is not None:
            raise ValueError(f"--{name.replace('_', '-')} needs --shape.")
    kind = "preset rules" if args.preset else "same-text" if args.same_text else None
    if kind and (named := [name for name in FIXED[kind] if getattr(args, name) is not None]):
        raise ValueError(f"--{kind} fixes {', '.join(f'{name}s' for name in FIXED[kind])}; leave out --{named[0]}.")
    builder = strategy(args, "builder", args.builder) if args.builder else None
    verifier = strategy(args, "verifier", args.verifier) if args.verifier else None
    refuse_unused(args, *filter(None, (builder, verifier)))
    config = RunConfig(
        temperature=args.temperature or 0.0, top_p=args.top_p, top_k=args.top_k, seed=args.seed,
        draft_temperature=args.draft_temperature, max_new_tokens=args.max_new_tokens,
    )  # fmt: skip
    given = read_prompts(args.prompts) if args.prompts else None
    from ..bench import PROMPTS, bench, greedy_differences
    from ..bench_rules import rules_table
    from ..models.pair import load_pair

    pair = load_pair(args.target, args.draft, **loading(args))
    builders = [builder] if builder else None
    if args.same_text:
        prompts = given or [*PROMPTS, *built_in_prompts()]
        differences = greedy_differences(pair, prompts, args.max_new_tokens, builders, _progress)
        print_differences(differences, f"{len(prompts)} prompts x {args.max_new_tokens} tokens in {args.dtype}", args)
        return 1 if differences else 0
    if args.preset == "rules":
        if pair.draft is None:
            raise ValueError("--preset rules compares rules on what a draft proposes; give --draft as well.")
        cells = rules_table(pair, given or built_in_prompts()[:16], min(64, args.max_new_tokens), args.seed, _progress)
        print_cells(cells, args.json)
        return None
    rows = bench(pair, builders, verifier, given or PROMPTS, config, args.rounds, _progress)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return None
    print_rows(rows)
    return None


def print_differences(differences: list, what: str, args: argparse.Namespace) -> None:
    """Where texts differ, a line each, and how many of `what` were compared."""
    if args.json:
        print(json.dumps([asdict(row) for row in differences], indent=1))
        return
    for row in differences:
        print(f"{row.method}: token {row.position} differs after {row.prompt!r:.60}, margin {row.margin:.2e}")
    print(f"{what}: {len(differences)} differences")


def print_cells(cells: list, as_json: bool) -> None:
    """Tokens per pass with standard errors, a line per pair, a column per temperature and size."""
    if as_json:
        print(json.dumps([asdict(cell) for cell in cells], indent=1))
        return
    columns = list(dict.fromkeys((cell.temperature, cell.size) for cell in cells))
    print(f"{'tokens per target pass':40}" + "".join(f"   T {t:g}, {n:3} nodes" for t, n in columns))
    for pair in dict.fromkeys((cell.builder, cell.verifier) for cell in cells):
        found = {(c.temperature, c.size): c for c in cells if (c.builder, c.verifier) == pair}
        shown = (f"{found[column].tokens_per_pass:10.2f} ± {found[column].standard_error:4.2f}" for column in columns)
        print(f"{' + '.join(pair):40}" + "".join(shown))


def built_in_prompts() -> list[str]:
    """The prompts that no training text holds, prose and code in turn."""
    kinds = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    return [prompt for both in zip(*kinds.values(), strict=False) for prompt in both]


def read_prompts(path: str) -> list[str]:
    """The prompts of a file, one a line."""
    try:
        prompts = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--prompts: {path!r} cannot be read: {getattr(error, 'strerror', 'not UTF-8')}.") from None
    if not prompts:
        raise ValueError(f"--prompts: {path!r} must hold at least one line of text.")
    return prompts


def _progress(done: int, of: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {of} runs", end="" if done < of else "\n", file=sys.stderr, flush=True)
