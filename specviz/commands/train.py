"""`train`: make a pair like the embedded one, or Medusa's heads or EAGLE's layer for a target."""

from __future__ import annotations

import argparse
import math
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from ..codec import LARGEST
from ..errors import ParameterError
from .options import reject_given

EXAMPLE = "--text stories.txt --out my-pair --minutes 180"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--text", nargs="+", action="extend", default=[], metavar="FILE",
        help="prose to train on, UTF-8 (required for a new pair); with --drafter: text that the target continues to "
        "make the samples (default: samples that are there)",
    )  # fmt: skip
    add("--out", metavar="DIR", help="folder of the result (required for a pair; default: beside the target)")
    add("--target", metavar="DIR", help="keep this target and distil only a draft for it (default: train one)")
    add("--drafter", metavar="KIND", help="train medusa or eagle for --target, on its samples")
    add("--samples", metavar="DIR", help="with --drafter: the samples (default: beside the target)")
    add("--heads", type=int, default=4, metavar="K", help="with --drafter medusa: how many, from 1 to 16")
    add("--minutes", type=float, default=180.0, metavar="M", help="time to train in all, above 0")
    add("--code", metavar="DIR", help="folder of Python files (default: the standard library; with --drafter none)")
    add("--code-share", type=float, default=0.2, metavar="S", help="of the target's text, from 0 to 1")
    add("--device", default="auto", metavar="WHERE", help="auto, cpu, cuda or mps")
    add("--seed", type=int, default=0, metavar="S", help="of weights, batches and samples, from 0")


def run(args: argparse.Namespace) -> int:
    """Train, and print what was done."""
    _check_options(args)
    for path in args.text:
        if not Path(path).is_file():
            raise ValueError(f"--text must name files that exist; there is no file {path!r}.")
    if args.code is not None and not Path(args.code).is_dir():
        raise ValueError(f"--code must be a folder of Python files; there is no folder {args.code!r}.")
    if args.target is not None and not (Path(args.target) / "config.json").is_file():
        raise ValueError(f"--target must be a folder with a model; {args.target!r} is not.")
    if args.target is not None and args.text and not (Path(args.target) / "tokenizer.json").is_file():
        raise ValueError(f"--target must have a tokenizer.json to read text with; {args.target!r} has none.")
    out = Path(args.out or Path(args.target).parent / args.drafter)
    try:
        out.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=out).close()
    except OSError as error:
        raise ValueError(f"--out must be a folder that can be written; {str(out)!r}: {error.strerror}.") from None
    common = {"code_folder": args.code, "device": args.device}
    try:
        if args.drafter:
            from ..training.heads import train_heads

            samples = args.samples and Path(args.samples)
            more = {"samples": samples, "text_files": args.text, "out": out, "heads": args.heads, "seed": args.seed}
            print(train_heads(args.drafter, Path(args.target), 60 * args.minutes, **more, **common))
        else:
            from ..training.pair import Recipe, train_pair

            recipe = Recipe(seed=args.seed, code_share=args.code_share)
            if args.target:
                recipe = replace(recipe, target_time=0.0, sample_time=0.3)
            print(train_pair(args.text, out, 60 * args.minutes, target=args.target, recipe=recipe, **common))
    except KeyboardInterrupt:
        print("\nInterrupted; the same command again continues from the last checkpoint, at most a minute old.")
        return 130
    return 0


def _check_options(args: argparse.Namespace) -> None:
    """Reject values out of range, and options that have no effect."""
    if args.drafter is None:
        reject_given(args, ("samples", "heads"), "without --drafter")
        if not args.text or args.out is None:
            raise ValueError("--text and --out are needed to train a pair; --drafter alone goes without.")
    else:
        if args.drafter not in ("medusa", "eagle"):
            raise ParameterError("drafter", "be medusa or eagle to be trained", args.drafter)
        if args.target is None:
            raise ValueError("--drafter needs --target, the folder of the model to draft for.")
        reject_given(args, ("code_share",), "with --drafter")
        if args.drafter != "medusa":
            reject_given(args, ("heads",), "without --drafter medusa")
        if args.text:
            reject_given(args, ("samples",), "with --text, from which samples are made")
        else:
            reject_given(args, ("code",), "with --drafter without --text")
    for name, value, must, valid in (
        ("minutes", args.minutes, "be a number above 0", math.isfinite(args.minutes) and args.minutes > 0),
        ("seed", args.seed, f"be a whole number from 0 to {LARGEST}", 0 <= args.seed <= LARGEST),
        ("code-share", args.code_share, "be a number from 0 to 1", 0 <= args.code_share <= 1),
        ("heads", args.heads, "be a whole number from 1 to 16", 1 <= args.heads <= 16),
    ):
        if not valid:
            raise ParameterError(name, must, value)
