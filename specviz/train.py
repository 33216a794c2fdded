"""Make a pair like the embedded one: tokenizer, target, then a draft distilled from the target.

This page is the door: it checks what was asked for and loads no model library. The recipe is `training/pair.py`.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from .training.recipe import Recipe

HELP = "Train a draft and target pair of your own from text files."
EXAMPLE = "--text stories.txt --out my-pair --minutes 180"


def train(
    text_files: Sequence[str | Path],
    out: str | Path,
    minutes: float,
    *,
    target: str | Path | None = None,
    code_folder: str | Path | None = None,
    recipe: Recipe | None = None,
    device: str = "auto",
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train a pair on `text_files` and Python sources for `minutes`; the same call again continues a broken run.

    Writes transformers folders `out/target` and `out/draft` and the model card `out/README.md`, which it returns.
    `target`: a folder with a model and its tokenizer, for which only a draft is made. `code_folder`: where Python files
    are looked for (default: this interpreter's standard library). `clock`: seconds, as the budget counts them.

    Raises:
        ValueError: in a sentence, if something cannot be read, written or continued.
        KeyboardInterrupt: after a checkpoint, if the run was interrupted.
    """
    if not (math.isfinite(minutes) and minutes > 0):
        raise ValueError(f"minutes must be a number above 0; got {minutes}. Give 180 for a pair worth watching.")
    if not text_files:
        raise ValueError("text must name at least one file of prose; got none.")
    for path in map(Path, text_files):
        if not path.is_file():
            raise ValueError(f"text must name files that exist; there is no file {str(path)!r}.")
    if target is not None and not (Path(target) / "tokenizer.json").is_file():
        raise ValueError(f"target must be a folder with a model and its tokenizer.json; {str(target)!r} is not.")
    try:
        (Path(out) / "checkpoint").mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=Path(out) / "checkpoint").close()
    except OSError as error:
        raise ValueError(f"out must be a folder that can be written; {str(out)!r} cannot: {error.strerror}.") from None

    from .training.pair import make_pair  # after the checks: it takes seconds to load

    return make_pair(
        text_files, Path(out), minutes * 60, target=target, code_folder=code_folder, recipe=recipe or Recipe(),
        device=device, clock=clock,
    )  # fmt: skip


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m specviz train`."""
    parser.add_argument("--text", nargs="+", required=True, metavar="FILE", help="prose to learn from, UTF-8")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for target, draft, card and checkpoints")
    parser.add_argument("--minutes", type=float, default=180.0, metavar="M", help="time to train in all (default 180)")
    parser.add_argument("--target", metavar="DIR", help="keep this target and distil only a new draft for it")
    parser.add_argument("--code", metavar="DIR", help="folder of Python files (default: the standard library)")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="seed of weights, batches and samples")


def run(args: argparse.Namespace) -> int:
    """Run the command and print the model card."""
    try:
        card = train(
            args.text, args.out, args.minutes, target=args.target, code_folder=args.code,
            recipe=Recipe(seed=args.seed), device=args.device,
        )  # fmt: skip
    except KeyboardInterrupt:
        print(f"\nInterrupted; the state is in {args.out}/checkpoint, the same command again continues.")
        return 130
    print(f"{card}\n{args.out}/checkpoint is needed only to go on with more minutes; it can be deleted.")
    return 0
