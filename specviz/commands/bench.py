"""`bench`: transformers, plain decoding and every builder side by side on this machine."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from ..config import RunConfig
from .options import add_pair, add_sampling, add_strategy, refuse_unused, strategy

HELP = "Time transformers' generation, plain decoding and tree speculation side by side."
EXAMPLE = "--temperature 0 --dtype auto --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_strategy(parser)
    parser.set_defaults(builder=None)
    add_sampling(parser)
    parser.set_defaults(temperature=0.0)
    add_pair(parser)
    parser.add_argument("--prompts", metavar="FILE", help="one prompt a line, instead of the built-in ones")
    parser.add_argument("--rounds", type=int, default=3, help="how often each method runs (default 3)")
    parser.add_argument("--json", action="store_true", help="print the rows as JSON")


def run(args: argparse.Namespace) -> None:
    builder = strategy(args, "builder", args.builder) if args.builder else None
    verifier = strategy(args, "verifier", args.verifier) if args.verifier else None
    refuse_unused(args, *filter(None, (builder, verifier)))
    if args.rounds < 1:
        raise ValueError(f"--rounds must be at least 1; got {args.rounds}.")
    config = RunConfig(
        temperature=args.temperature, top_p=args.top_p, top_k=args.top_k, draft_temperature=args.draft_temperature,
        max_new_tokens=args.max_new_tokens, seed=args.seed,
    )  # fmt: skip
    prompts = read_prompts(args.prompts) if args.prompts else None
    from ..bench import PROMPTS, bench
    from ..models.pair import load_pair

    pair = load_pair(args.target, args.draft, device=args.device, dtype=args.dtype)
    rows = bench(pair, [builder] if builder else None, verifier, prompts or PROMPTS, config, args.rounds, _progress)
    if args.json:
        print(json.dumps([asdict(row) for row in rows], indent=1))
        return
    print(f"{'method':58} tokens/s  a pass  ratio   ms a step: draft  target  verify  other  overhead")
    for row in rows:
        parts = "" if row.seconds is None else "  ".join(f"{1000 * x:6.2f}" for x in row.seconds.values())
        over = "" if row.overhead is None else f"{row.overhead:9.1%}"
        print(
            f"{row.method:58} {row.tokens_per_s:8.1f} {row.tokens_per_pass:7.2f} {row.ratio:6.2f}  {parts:>32} {over}"
        )


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
