"""Options that several commands share; parameters of builders and rules become options by themselves."""

from __future__ import annotations

import argparse
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..acceptance import check_acceptance, read_acceptance
from ..builders import BUILDERS
from ..config import Choice, RunConfig
from ..protocols import suited
from ..record import Trace
from ..registry import BASES, REGISTRIES, build
from ..verifiers import VERIFIERS


def add_strategy(parser: argparse.ArgumentParser, verifier: bool = True) -> None:
    """--builder and --verifier, and an option for each of their parameters."""
    parser.add_argument("--builder", default="sequoia", help=f"tree builder: {', '.join(BUILDERS)}")
    if verifier:
        parser.add_argument("--verifier", help=f"verification rule: {', '.join(VERIFIERS)}")
    owners: dict[str, list[str]] = {}
    for cls in [*BUILDERS.values(), *(VERIFIERS.values() if verifier else ())]:
        for field in fields(cls):
            owners.setdefault(field.name, []).append(cls.name)
    group = parser.add_argument_group("parameters of builders and rules")
    for name, classes in owners.items():
        group.add_argument(
            f"--{name.replace('_', '-')}", dest=f"parameter_{name}", metavar="X", help=f"of {', '.join(classes)}"
        )


def add_sampling(parser: argparse.ArgumentParser, temperature: float = 0.8) -> None:
    help = f"the target's (default {temperature:g})"
    parser.add_argument("--temperature", type=float, default=temperature, metavar="T", help=help)
    parser.add_argument("--draft-temperature", type=float, metavar="T", help="the draft's (default: the target's)")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="keep the most probable mass P")
    parser.add_argument("--top-k", type=int, metavar="K", help="keep the K most probable tokens")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed gives the same text")
    parser.add_argument("--max-new-tokens", type=int, default=128, metavar="M", help="how many tokens to write at most")


def add_pair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="ID", help="folder or hub name of the target (default: the embedded pair)")
    parser.add_argument("--draft", metavar="ID", help="folder or hub name of the draft, or early-exit:N")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")
    parser.add_argument("--offload", metavar="WHERE", help="a target larger than the device: auto, balanced, cpu, disk")
    parser.add_argument("--offload-folder", metavar="DIR", help="for weights that cannot be read from where they lie")


def loading(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_pair` says on how the pair is to be loaded."""
    return {name: getattr(args, name) for name in ("device", "dtype", "offload", "offload_folder")}


def strategy(args: argparse.Namespace, kind: str, name: str) -> Any:
    """The builder or rule called `name` with the parameters given on the command line.

    Raises:
        ValueError: if the name is unknown or a value does not fit; parameters it does not have are left to the other.
    """
    registry = BUILDERS if kind == "builder" else VERIFIERS
    if name not in registry:
        raise ValueError(f"--{kind} must be one of {', '.join(registry)}; got {name!r}.")
    known = {field.name: field for field in fields(registry[name])}
    given = {key.removeprefix("parameter_"): value for key, value in vars(args).items() if key.startswith("parameter_")}
    parameters = {
        key: value_of(key, text, known[key]) for key, text in given.items() if text is not None and key in known
    }
    return build(kind, Choice(name, parameters))


def value_of(name: str, text: str, field: Any) -> Any:
    """The value of one parameter from its text on the command line."""
    kind, option = field.metadata["kind"], f"--{name.replace('_', '-')}"
    try:
        if kind == "flag":
            return {"true": True, "false": False}[text.lower()]
        if kind == "widths":
            return tuple(int(part) for part in text.split(","))
        if kind == "free":
            if text in ("auto", "measured"):
                return text
            numbers = _numbers(text)
            return read_acceptance(text) if numbers is None else check_acceptance(numbers, option)
        return int(text) if kind == "whole" else float(text)
    except (KeyError, TypeError):
        raise ValueError(f"{option} must be true or false; got {text!r}.") from None
    except ValueError as error:
        if kind == "free":
            raise
        nouns = {"whole": "a whole number", "real": "a number", "widths": "whole numbers like 3,2,1"}
        raise ValueError(f"{option} must be {nouns[kind]}; got {text!r}.") from error


def _numbers(text: str) -> list[float] | None:
    """The numbers of a list like 0.6,0.2; None where `text` is no such list."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        return None


def refuse_unused(args: argparse.Namespace, *parts: Any) -> None:
    """Raise for a parameter that neither the builder nor the rule has, or whose builder or rule was not named."""
    known = {field.name for part in parts for field in fields(part)}
    for key, value in vars(args).items():
        name = key.removeprefix("parameter_")
        if key.startswith("parameter_") and value is not None and name not in known:
            option = f"--{name.replace('_', '-')}"
            owner = next(kind for kind, classes in REGISTRIES.items() if _has(name, *classes.values()))
            if not any(isinstance(part, BASES[owner]) for part in parts):
                raise ValueError(f"{option} needs --{owner}.")
            names = " and ".join(part.name for part in parts)
            has = ", ".join(f"--{n.replace('_', '-')}" for n in sorted(known)) or "no parameters"
            raise ValueError(f"{names} has no parameter {option}; there is {has}.")


def _has(name: str, *classes: type) -> bool:
    return any(field.name == name for cls in classes for field in fields(cls))


def config_from(args: argparse.Namespace) -> RunConfig:
    """The run that the options describe; without --verifier the rule that suits builder and temperature."""
    builder = strategy(args, "builder", args.builder)
    name = args.verifier or suited(builder, VERIFIERS, args.temperature)
    verifier = strategy(args, "verifier", name)
    refuse_unused(args, builder, verifier)
    return RunConfig(
        args.prompt, builder, verifier, args.temperature, args.top_p, args.top_k, args.draft_temperature,
        args.max_new_tokens, args.seed,
    )  # fmt: skip


def read_trace(path: str) -> Trace:
    """The trace in a file; a missing or damaged one is a sentence."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path!r} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path!r} is not a trace: it is not UTF-8 text.") from None
    return Trace.from_json(text)


def check_folder(path: str) -> None:
    """Raise for a file that could not be written for want of its folder, before the work that is to fill it."""
    folder = Path(path).parent
    if not folder.is_dir():
        raise ValueError(f"{path!r} cannot be written: there is no folder {str(folder)!r}.")
    if Path(path).is_dir():
        raise ValueError(f"{path!r} cannot be written: it is a folder.")


def write_file(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path!r} cannot be written: {error.strerror}.") from None
