"""`train`: make a pair like the embedded one, or a drafter for a target: Medusa's heads, EAGLE's
layer, a block."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryFile

from ..base.codec import LARGEST, JsonObject
from ..base.errors import ParameterError
from ..base.files import file_errors
from .arguments import Arguments, Parser, option, within
from .options import reject

EXAMPLE = "--text stories.txt --out my-pair --minutes 180"


def add_arguments(parser: Parser) -> None:
    parser.add_argument(
        "--text",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="prose to train on, UTF-8 (required for a new pair); with --drafter: text that the "
        "target continues to "
        "make the samples (default: samples that are there)",
    )
    option(
        parser,
        "--out DIR",
        "folder of the result (required for a pair; default: beside the target)",
    )
    option(
        parser,
        "--target DIR",
        "keep this target and distil only a draft for it (default: train one)",
    )
    parser.add_argument(
        "--drafter",
        choices=("medusa", "eagle", "block", "eagle3"),
        help="train it for --target, on its samples, or those of a chat model on conversations "
        "that it writes with itself; eagle3 for a chat model only (default: none)",
    )
    option(
        parser,
        "--samples DIR",
        "with --drafter: the samples, or conversations of a chat model (default: beside the "
        "target, or they are made)",
        Path,
    )
    option(
        parser,
        "--state DIR",
        "with --drafter: what a run needs to continue (default: checkpoint in --out)",
        Path,
    )
    heads = within(int, 1, 16)
    minutes = within(float, 0, 1e9, above=True)
    option(parser, "--heads K", "with --drafter medusa: how many, from 1 to 16", heads, 4)
    option(parser, "--minutes M", "time to train in all, above 0", minutes, 180.0)
    option(
        parser,
        "--code DIR",
        "folder of Python files (default: the standard library; with --drafter none)",
    )
    option(parser, "--code-share S", "of the target's text, from 0 to 1", within(float, 0, 1), 0.2)
    option(parser, "--device WHERE", "auto, cpu, cuda or mps", default="auto")
    option(
        parser, "--seed S", "of weights, batches and samples, from 0", within(int, 0, LARGEST), 0
    )


def run(args: Arguments) -> int:
    # An option that would change nothing is a mistake, which is better told before than after.
    for name, where, unused in (
        ("heads", "without --drafter medusa", args.drafter != "medusa"),
        ("samples", "without --drafter", args.drafter is None),
        ("state", "without --drafter", args.drafter is None),
        ("text", "with --drafter eagle3", args.drafter == "eagle3"),
        ("code_share", "with --drafter", args.drafter),
        ("samples", "with --text, from which samples are made", args.text),
        ("code", "with --drafter without --text", args.drafter and not args.text),
    ):
        reject(args, [name] if unused else [], where)
    if args.drafter is None and not (args.text and args.out):
        raise ValueError(
            "--text and --out are needed to train a pair; --drafter alone goes without."
        )
    if args.drafter and args.target is None:
        raise ValueError("--drafter needs --target, the folder of the model to draft for.")
    target = Path(args.target or "")
    if args.drafter and not args.out and (args.drafter == "eagle3" or not target.is_dir()):
        raise ValueError(
            "--out, the folder of what is trained, is needed with --drafter eagle3 and with a "
            "target that is no folder."
        )
    check_files(args, target)
    # A folder that cannot be written must fail now, not after minutes of training.
    out = Path(args.out or target.parent / args.drafter)
    with file_errors(f"--out {str(out)!r} cannot be written"):
        out.mkdir(parents=True, exist_ok=True)
        TemporaryFile(dir=out).close()
    seconds = 60 * args.minutes
    try:
        # torch and transformers are loaded only here, so that a wrong option fails at once.
        if args.drafter:
            from ..training.heads import train_drafter

            line = train_drafter(
                args.drafter,
                args.target,
                seconds,
                samples=args.samples,
                text_files=args.text,
                code_folder=args.code,
                out=out,
                state=args.state,
                heads=args.heads,
                device=args.device,
                seed=args.seed,
            )
        else:
            from ..training.pair import Recipe, train_pair

            times: JsonObject = {"target_time": 0.0, "sample_time": 0.3} if args.target else {}
            recipe = Recipe(seed=args.seed, code_share=args.code_share, **times)
            line = train_pair(
                args.text,
                out,
                seconds,
                target=args.target,
                recipe=recipe,
                code_folder=args.code,
                device=args.device,
            )
        print(line)
    except KeyboardInterrupt:
        print(
            "\nInterrupted; the same command again continues from the last checkpoint, at "
            "most a minute old."
        )
        return 130
    return 0


def check_files(args: Arguments, target: Path) -> None:
    """Check that what the options name is there, before hours of training."""
    for path in args.text:
        if not Path(path).is_file():
            raise ParameterError("--text", "name files that exist", path)
    if args.code and not Path(args.code).is_dir():
        raise ParameterError("--code", "be a folder of Python files", args.code)
    if not args.target:
        return
    # A drafter takes any name that `load_pair` knows.
    if args.drafter is None and not (target / "config.json").is_file():
        raise ParameterError("--target", "be a folder with a model", args.target)
    if args.text and not (target / "tokenizer.json").is_file():
        raise ParameterError("--target", "have a tokenizer.json", args.target)
