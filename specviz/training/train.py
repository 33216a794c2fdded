"""Make a pair like the embedded one: tokenizer, target, then a draft distilled from the target.

This page is the door: it checks what was asked for and loads no model library. The recipe is `training/build_pair.py`.
"""

import argparse
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryFile

from ..config import LARGEST
from ..errors import reject_given
from .recipe import Recipe

EXAMPLE = "--text stories.txt --out my-pair --minutes 180"


def train(
    text_files: Sequence[str | Path],
    out: str | Path,
    minutes: float,
    *,
    target: str | Path | None = None,
    start: str | Path | None = None,
    code_folder: str | Path | None = None,
    recipe: Recipe | None = None,
    device: str = "auto",
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train a pair on `text_files` and Python sources for `minutes`; the same call again continues a broken run.

    Writes transformers folders `out/target` and `out/draft` and the model card `out/README.md`, which it returns.
    `target`: a folder with a model and its tokenizer, for which only a draft is made. `start`: such a folder; a new
    target grows from its Llama (default recipe: `Recipe().going_on()`), the draft from the one beside it.
    `code_folder`: where Python files are looked for (default: this interpreter's standard library). `clock`: seconds,
    as the budget counts them.

    Raises:
        ValueError: in a sentence, if something cannot be read, written or continued.
        KeyboardInterrupt: after a checkpoint, if the run was interrupted.
    """
    if not (math.isfinite(minutes) and minutes > 0):
        raise ValueError(f"minutes must be a number above 0; got {minutes}. Give 180 for a pair worth watching.")
    if not text_files:
        raise ValueError("text must name at least one file of prose; got none.")
    check_text(text_files, code_folder)
    seed = 0 if recipe is None else recipe.seed
    if type(seed) is not int or not 0 <= seed <= LARGEST:
        raise ValueError(f"seed must be a whole number from 0 to {LARGEST}; got {seed}.")
    for name, folder in (("target", target), ("start", start)):
        if folder is not None and not (Path(folder) / "tokenizer.json").is_file():
            raise ValueError(f"{name} must be a folder with a model and its tokenizer.json; {str(folder)!r} is not.")
    try:
        (Path(out) / "checkpoint").mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=Path(out) / "checkpoint").close()
    except OSError as error:
        raise ValueError(f"out must be a folder that can be written; {str(out)!r} cannot: {error.strerror}.") from None

    from .build_pair import make_pair

    return make_pair(
        text_files, Path(out), minutes * 60, target=target, start=start, code_folder=code_folder,
        recipe=recipe or (Recipe().going_on() if start else Recipe()), device=device, clock=clock,
    )  # fmt: skip


def train_drafter(
    kind: str,
    target: str | Path,
    minutes: float,
    *,
    samples: str | Path | None = None,
    text_files: Sequence[str | Path] = (),
    code_folder: str | Path | None = None,
    start: str | Path | None = None,
    out: str | Path | None = None,
    heads: int = 4,
    device: str = "auto",
    seed: int = 0,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Train Medusa's heads or EAGLE's layer for a target, on the samples of the run that made its draft or on new ones.

    `kind`: "medusa" or "eagle". `target`: its folder. `samples`: their folder (default: `checkpoint/samples` beside the
    target's). `text_files`, `code_folder`: prose and Python files to make samples from instead, in a third of the time.
    `start`: a folder with the same drafter of a target as wide, to go on from (default: from nothing).
    `out`: where to write (default: a folder of that name beside the target's, where `load_pair` looks).

    Raises:
        ValueError: in a sentence, if something cannot be read or written.
        KeyboardInterrupt: after a checkpoint, if the run was interrupted.
    """
    if kind not in ("medusa", "eagle"):
        raise ValueError(f"drafter must be medusa or eagle to be trained; got {kind!r}.")
    if not (math.isfinite(minutes) and minutes > 0):
        raise ValueError(f"minutes must be a number above 0; got {minutes}.")
    if not 1 <= heads <= 16:
        raise ValueError(f"heads must be a whole number from 1 to 16; got {heads}.")
    target = Path(target)
    if not (target / "config.json").is_file():
        raise ValueError(f"target must be a folder with a model; {str(target)!r} is not.")
    place = Path(out) if out else target.parent / kind
    seconds = minutes * 60
    if text_files:
        if samples:
            raise ValueError("samples must be left out where text is given: they are made from it.")
        check_text(text_files, code_folder)
        from .learned_drafters import SHARE, make_samples

        folder, spent = make_samples(
            target, text_files, code_folder, place / "checkpoint", SHARE * seconds, clock, device=device, seed=seed
        )
        seconds = max(1.0, seconds - spent)
    else:
        folder = Path(samples) if samples else target.parent / "checkpoint" / "samples"
    if not folder.is_dir():
        raise ValueError(
            f"samples must be a folder of the target's samples; there is no {str(folder)!r}. "
            "Give --text to make samples from, or the checkpoint folder of a run of train."
        )
    from .learned_drafters import train_drafter as begin

    return begin(
        kind, target, folder, place, seconds, clock,
        start=Path(start) if start else None, heads=heads, device=device, seed=seed,
    )  # fmt: skip


def check_text(text_files: Sequence[str | Path], code_folder: str | Path | None) -> None:
    """See that the files and the folder exist.

    Raises:
        ValueError: naming the one that does not.
    """
    for path in map(Path, text_files):
        if not path.is_file():
            raise ValueError(f"text must name files that exist; there is no file {str(path)!r}.")
    if code_folder is not None and not Path(code_folder).is_dir():
        raise ValueError(f"code must be a folder of Python files; there is no folder {str(code_folder)!r}.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of `python -m specviz train`."""
    parser.add_argument(
        "--text", nargs="+", action="extend", metavar="FILE",
        help="prose to train on, UTF-8 (required for a new pair); with --drafter: text that the target continues to "
        "make the samples (default: samples that are there)",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="folder for target, draft, card and checkpoints (required)")
    parser.add_argument(
        "--drafter", metavar="KIND", help="train medusa or eagle for --target, on its samples (default: none)"
    )
    parser.add_argument("--samples", metavar="DIR", help="with --drafter: the samples (default: beside the target)")
    parser.add_argument(
        "--heads", type=int, default=4, metavar="K", help="with --drafter medusa: how many, from 1 (default 4)"
    )
    parser.add_argument(
        "--minutes", type=float, default=180.0, metavar="M", help="time to train in all, above 0 (default 180)"
    )
    parser.add_argument(
        "--target", metavar="DIR", help="keep this target and distil only a draft for it (default: train one)"
    )
    parser.add_argument(
        "--start", metavar="DIR",
        help="grow the new target from the Llama in this folder, and go on from the draft beside it; "
        "with --drafter: go on from the one in this folder (default: from nothing)",
    )  # fmt: skip
    parser.add_argument(
        "--muon", type=float, default=0.0, metavar="RATE",
        help="with --start: train matrices by Muon at this rate, from 0 to 1, as a new target's are at 0.02; it pays "
        "when millions of tokens are read (default 0: small steps of AdamW, which forget little)",
    )  # fmt: skip
    parser.add_argument(
        "--code-share", type=float, default=0.2, metavar="S", help="of the target's text, from 0 to 1 (default 0.2)"
    )
    parser.add_argument(
        "--code", metavar="DIR", help="folder of Python files (default: the standard library; with --drafter none)"
    )
    parser.add_argument("--device", default="auto", metavar="WHERE", help="auto, cpu, cuda or mps (default auto)")
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="of weights, batches and samples, from 0 (default 0)"
    )


def run(args: argparse.Namespace) -> int:
    """Run the command and print the model card."""
    if args.drafter:
        reject_given(args, ("muon", "code_share"), "with --drafter")
        if not args.text:
            reject_given(args, ("code",), "with --drafter without --text")
        return _run_drafter(args)
    reject_given(args, ("samples", "heads"), "without --drafter")
    for name in ("text", "out"):
        if getattr(args, name) is None:
            raise ValueError(f"--{name} is needed to train a pair; --drafter alone goes without.")
    for name, value in (("muon", args.muon), ("code-share", args.code_share)):
        if not 0 <= value <= 1:
            raise ValueError(f"--{name} must be a number from 0 to 1; got {value}.")
    if args.muon and not args.start:
        raise ValueError("--muon belongs to --start; a new target's matrices are trained by Muon as it is.")
    recipe = Recipe(seed=args.seed, code_share=args.code_share)
    try:
        card = train(
            args.text, args.out, args.minutes, target=args.target, start=args.start,
            code_folder=args.code, recipe=recipe.going_on(args.muon) if args.start else recipe, device=args.device,
        )  # fmt: skip
    except KeyboardInterrupt:
        print(f"\nInterrupted; the state is in {args.out}/checkpoint, the same command again continues.")
        return 130
    print(f"{card}\n{args.out}/checkpoint is needed only to go on with more minutes; it can be deleted.")
    return 0


def _run_drafter(args: argparse.Namespace) -> int:
    if args.target is None:
        raise ValueError("--drafter needs --target, the folder of the model to draft for.")
    if args.drafter != "medusa":
        reject_given(args, ("heads",), "without --drafter medusa")
    try:
        print(
            train_drafter(
                args.drafter, args.target, args.minutes, samples=args.samples, text_files=args.text or (),
                code_folder=args.code, start=args.start, out=args.out, heads=args.heads, device=args.device,
                seed=args.seed,
            )
        )  # fmt: skip
    except KeyboardInterrupt:
        print("\nInterrupted; the same command again continues.")
        return 130
    return 0
