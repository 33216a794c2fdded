"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from ..acceptance.vectors import read_acceptance
from ..config import RunConfig
from ..errors import ParameterError
from ..strategy import REGISTRIES, parse_strategy

TEMPERATURE = RunConfig.temperature  # of every command, so that what one measures is what another uses
WHAT = {"builder": "tree builder", "verifier": "verification rule", "drafter": "drafter of the tokens"}
SEVERAL = ", repeat for several"


def add_strategy(parser: argparse.ArgumentParser, kind: str, default: str, several: bool = False) -> None:
    """--builder, --verifier or --drafter; `default` is a name, or how one is chosen."""
    menu = REGISTRIES[kind]
    parser.add_argument(
        f"--{kind}", metavar="NAME:PARAMETERS", action="append" if several else "store",
        default=default if default in menu else None,
        help=f"{WHAT[kind]}{SEVERAL if several else ''}: {', '.join(menu)} (default: {default}); parameters as in "
        "sequoia:size=16,depth=6",
    )  # fmt: skip


def add_temperature(parser: argparse.ArgumentParser, several: str = "") -> None:
    """--temperature; where there may be several, `several` is the default in words."""
    parser.add_argument(
        "--temperature", type=float, default=None if several else TEMPERATURE, metavar="T",
        action="append" if several else "store", help=f"temperature of the target{SEVERAL if several else ''}: 0 for "
        f"greedy decoding, or from 0.001; 1 is the model's own distribution (default: {several or TEMPERATURE})",
    )  # fmt: skip


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Options of the sampling besides the target's temperature, and the seed."""
    add = parser.add_argument
    add(
        "--draft-temperature", type=float, metavar="T",
        help="temperature of the draft, 0 or from 0.001 (default: the target's, or 0.6 if that is 0)",
    )  # fmt: skip
    add("--top-p", type=float, default=1.0, metavar="P", help="keep the fewest tokens of total probability P, above 0")
    add("--top-k", type=int, metavar="K", help="keep the K most probable tokens, from 1 (default: keep all)")
    add("--seed", type=int, default=0, metavar="S", help="random seed, from 0; the same one gives the same text")


def add_pair(parser: argparse.ArgumentParser, drafts: bool = False) -> None:
    """Target, draft and how they are loaded; with `drafts`, --draft may be given several times."""
    add = parser.add_argument
    add("--target", metavar="ID", help="folder or hub name of the target (default: the embedded pair)")
    add(
        "--draft", metavar="ID", action="append" if drafts else "store",
        help="folder or hub name of the draft, or early-exit:N for the target's first N layers"
        f"{SEVERAL if drafts else ''} (default: the embedded draft, or none with --target)",
    )  # fmt: skip
    add("--device", default="auto", metavar="WHERE", help="auto (the fastest), cpu, cuda, cuda:N or mps")
    add("--dtype", default="auto", metavar="FORMAT", help="auto (the fastest), float32, bfloat16 or float16")
    add("--offload", metavar="WHERE", help="a target larger than the device: auto, balanced, cpu or disk")
    add("--offload-folder", metavar="DIR", help="folder for weights that cannot be read in place")


def load(args: argparse.Namespace, **other: Any) -> Any:
    """The pair of `add_pair`; `other` are arguments of `load_pair` in place of the options."""
    check_draft(args, other.get("draft", getattr(args, "draft", None)))
    from ..models.pair import load_pair  # torch, which parsing does not need

    names = ("target", "draft", "device", "dtype", "offload", "offload_folder")
    return load_pair(**{name: getattr(args, name) for name in names} | other)


def check_draft(args: argparse.Namespace, draft: str | None) -> None:
    """Check that target and draft belong together, before anything is loaded."""
    if draft and not args.target and not draft.startswith(("early-exit:", "random:")):
        raise ValueError(f"--draft {draft} needs its target. Add --target, or use --draft early-exit:N alone.")
    named = getattr(args, "builder", "sequoia")
    builders = [named] if isinstance(named, str) else [text for text in named or () if text != "all"] or ["plain"]
    drafters = getattr(args, "drafter", None) or "model"
    reads = any(parse_strategy("builder", text.partition(":")[0]).reads_draft for text in builders)
    if args.target and not draft and reads and "model" in ([drafters] if isinstance(drafters, str) else drafters):
        raise ValueError("--target needs a draft. Add --draft, such as --draft early-exit:3, or --drafter ngram.")


def strategy(args: argparse.Namespace, kind: str, text: str) -> Any:
    """The builder, rule or drafter that a text on the command line names; a vector may be in a file."""

    def read(path: str) -> tuple:
        args.vector_files = [*vector_files(args), path]
        rule, temperature = getattr(args, "verifier", None), getattr(args, "temperature", None)
        rule = rule.partition(":")[0] if isinstance(rule, str) else None
        return read_acceptance(path, rule, None if isinstance(temperature, list) else temperature)

    try:
        return parse_strategy(kind, text, read)
    except ParameterError as error:
        raise (error.named(f"--{kind}") if error.name == kind else error) from None


def strategies(args: argparse.Namespace, kind: str) -> list[Any]:
    """Those of an option that may be given several times, each once."""
    return [*dict.fromkeys(strategy(args, kind, text) for text in getattr(args, kind) or ())]


def vector_files(args: argparse.Namespace) -> list[str]:
    """The files that the strategies made so far took their acceptance vectors from."""
    return getattr(args, "vector_files", [])


def sampling(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_rows` says of a run, as fields of `RunConfig`."""
    return {name: getattr(args, name) for name in ("draft_temperature", "top_p", "top_k", "seed")}


def reject_given(args: argparse.Namespace, names: Sequence[str], where: str) -> None:
    """Raise for an option that has no effect somewhere, "with a grid file" say."""
    seen = vars(args).get("_seen", ())
    if named := [name for name in names if name in seen or isinstance(getattr(args, name), list)]:
        raise ValueError(f"--{named[0].replace('_', '-')} is not used {where}. Omit it.")
