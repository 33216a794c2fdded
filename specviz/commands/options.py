"""Options that several commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..acceptance.vectors import mismatch, read_acceptance
from ..compatibility import suited
from ..config import RunConfig
from ..errors import ParameterError
from ..files import MOST_TRACE, __version__, read_text
from ..strategy import REGISTRIES, parse_strategy
from ..trace import Trace

TEMPERATURE = RunConfig.temperature  # of every command, so that what one measures is what another uses
WHAT = {"builder": "tree builder", "verifier": "verification rule", "drafter": "drafter of the tokens"}
SEVERAL = "repeat for several; "


def add_strategy(parser: argparse.ArgumentParser, kind: str, default: str, several: bool = False) -> None:
    """--builder, --verifier or --drafter, with parameters after a colon; `strategy` makes the object.

    Args:
        kind: "builder", "verifier" or "drafter".
        default: the name that is taken where none is given, or how one is chosen.
        several: whether it may be given several times.
    """
    menu = REGISTRIES[kind]
    parser.add_argument(
        f"--{kind}", metavar="NAME:PARAMETERS", action="append" if several else "store",
        default=default if default in menu else None,
        help=f"{WHAT[kind]}: {', '.join(menu)} ({SEVERAL if several else ''}default: {default}); parameters "
        "as in the documentation, written as in sequoia:size=16,depth=6",
    )  # fmt: skip


def add_temperature(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--temperature", type=float, default=TEMPERATURE, metavar="T",
        help=f"temperature of the target (default {TEMPERATURE:g}): 0 for greedy decoding, or from 0.001; 1 is the "
        "model's own distribution",
    )  # fmt: skip


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Options of the sampling besides the target's temperature, and the seed."""
    parser.add_argument(
        "--draft-temperature", type=float, metavar="T",
        help="temperature of the draft, 0 or from 0.001 (default: the target's, or 0.6 if that is 0)",
    )  # fmt: skip
    parser.add_argument(
        "--top-p", type=float, default=1.0, metavar="P",
        help="keep the smallest set of tokens with total probability P, above 0 to 1 (default 1: keep all)",
    )  # fmt: skip
    parser.add_argument(
        "--top-k", type=int, metavar="K", help="keep the K most probable tokens, from 1 (default: keep all)"
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="S", help="random seed, from 0; the same seed gives the same text "
        "(default 0)",
    )  # fmt: skip


def add_sampling(parser: argparse.ArgumentParser) -> None:
    add_temperature(parser)
    add_rows(parser)
    parser.add_argument(
        "--max-new-tokens", type=int, default=128, metavar="M",
        help="maximum number of new tokens, from 1 (default 128)",
    )  # fmt: skip


def add_pair(parser: argparse.ArgumentParser, drafts: bool = False) -> None:
    """Target, draft and how they are loaded; with `drafts`, --draft may be given several times."""
    parser.add_argument("--target", metavar="ID", help="folder or hub name of the target (default: the embedded pair)")
    parser.add_argument(
        "--draft", metavar="ID", action="append" if drafts else "store",
        help="folder or hub name of the draft, or early-exit:N for the target's first N layers "
        f"({SEVERAL if drafts else ''}default: the embedded draft, or none with --target)",
    )  # fmt: skip
    parser.add_argument(
        "--device", default="auto", metavar="WHERE", help="auto, cpu, cuda, cuda:N or mps (default auto: the fastest)"
    )
    parser.add_argument(
        "--dtype", default="auto", metavar="FORMAT",
        help="number format: auto, float32, bfloat16 or float16 (default auto: the fastest; float32 for equal texts)",
    )  # fmt: skip
    parser.add_argument(
        "--offload",
        metavar="WHERE",
        help="a target larger than the device: auto, balanced, cpu or disk (default: none)",
    )
    parser.add_argument(
        "--offload-folder", metavar="DIR", help="folder for weights that cannot be read in place (default: none)"
    )


def load(args: argparse.Namespace, **other: Any) -> Any:
    """The pair of `add_pair`; `other` are arguments of `load_pair` in place of the options."""
    check_draft(args, other.get("draft", getattr(args, "draft", None)))
    from ..models.pair import load_pair  # torch, which parsing does not need

    names = ("target", "draft", "device", "dtype", "offload", "offload_folder")
    return load_pair(**{name: getattr(args, name) for name in names} | other)


def check_draft(args: argparse.Namespace, draft: str | None) -> None:
    """Check that target and draft belong together, before anything is loaded.

    Raises:
        ValueError: if a draft has no target, or a target that needs one has no draft.
    """
    if draft and not args.target and not draft.startswith(("early-exit:", "random:")):
        raise ValueError(f"--draft {draft} needs its target. Add --target, or use --draft early-exit:N alone.")
    named = getattr(args, "builder", "sequoia")
    builders = [named] if isinstance(named, str) else [text for text in named or () if text != "all"] or ["plain"]
    drafters = getattr(args, "drafter", None) or "model"
    reads = any(parse_strategy("builder", text.partition(":")[0]).reads_draft for text in builders)
    if args.target and not draft and reads and "model" in ([drafters] if isinstance(drafters, str) else drafters):
        raise ValueError("--target needs a draft. Add --draft, such as --draft early-exit:3, or --drafter ngram.")


def strategy(args: argparse.Namespace, kind: str, text: str) -> Any:
    """The builder, rule or drafter that a text on the command line names; a vector may be in a file, such as a profile.

    Raises:
        ValueError: if the name, a parameter or a value is wrong.
    """

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


def vector_notice(args: argparse.Namespace, pair: Any, config: RunConfig) -> str:
    """A sentence where a builder's vector was measured in another setting; else ""."""
    drafter, verifier = config.drafter, config.verifier
    settings = {
        "pair": pair.info["name"], "dtype": pair.info.get("dtype"), "version": __version__, "drafter": drafter.name,
        "parameters": drafter.parameters, "verifier": verifier.name, "temperature": config.temperature,
    }  # fmt: skip
    sentence = next(filter(None, (mismatch(path, settings) for path in vector_files(args))), "")
    return sentence and f"{sentence}; a tree planned with it may not be optimal"


def sampling(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_rows` says of a run, as fields of `RunConfig`."""
    return {name: getattr(args, name) for name in ("draft_temperature", "top_p", "top_k", "seed")}


def numbers(option: str, text: str, low: int, high: int) -> list[int]:
    """The whole numbers of a list like 16,32.

    Raises:
        ValueError: if one is out of range or no number.
    """
    try:
        found = [int(part) for part in text.replace(",", " ").split()] or [low - 1]
    except ValueError:
        found = [low - 1]
    if not all(low <= number <= high for number in found):
        raise ValueError(f"{option} must be whole numbers from {low} to {high} like 16,32; got {text!r:.60}.")
    return sorted(set(found))


def config_from(args: argparse.Namespace) -> RunConfig:
    """The run that the options describe; without --verifier the rule that suits builder, drafter and temperature."""
    builder = strategy(args, "builder", args.builder)
    drafter = strategy(args, "drafter", args.drafter)
    config = RunConfig(
        args.prompt, builder, temperature=args.temperature, max_new_tokens=args.max_new_tokens, drafter=drafter,
        **sampling(args),
    )  # fmt: skip
    return replace(config, verifier=strategy(args, "verifier", args.verifier or suited(config)))


def read_trace(path: str) -> Trace:
    """The trace in a file; a missing or damaged one is a sentence."""
    return Trace.from_json(read_text(path, "trace", MOST_TRACE))


def reject_given(args: argparse.Namespace, names: Sequence[str], where: str) -> None:
    """Raise for an option that has no effect.

    Args:
        args: what argparse made of the command line.
        names: of options with a value or several, as they stand in `args`.
        where: it has none, "with --machine" say.
    """
    seen = vars(args).get("_seen", ())
    if named := [name for name in names if name in seen or isinstance(getattr(args, name), list)]:
        raise ValueError(f"--{named[0].replace('_', '-')} is not used {where}. Omit it.")
