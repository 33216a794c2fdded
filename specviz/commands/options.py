"""Options that several commands share; parameters of builders and rules become options automatically."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict, fields, replace
from typing import Any

from .._version import __version__
from ..acceptance.vectors import check_acceptance, elsewhere, read_acceptance
from ..builders import BUILDERS
from ..builders.base import TreeBuilder
from ..compatibility import suited
from ..config import Choice, RunConfig
from ..drafters import DRAFTERS
from ..drafters.base import Drafter
from ..errors import UnknownName
from ..files import MOST_TRACE, read_text
from ..parameters import read_value
from ..record import Trace
from ..registry import BASES, REGISTRIES, build
from ..verifiers import VERIFIERS
from ..verifiers.base import Verifier

TEMPERATURE = RunConfig.temperature  # of every command, so that what one measures is what another uses


def add_strategy(
    parser: argparse.ArgumentParser, verifier: bool = True, drafter: bool = False, builder: str | None = "sequoia"
) -> None:
    """--builder, perhaps --verifier and --drafter, and an option for each of their parameters.

    Args:
        verifier, drafter: whether there is a rule, and the drafter, to choose as well.
        builder: the one taken where none is named; None for all of them, where several can be named too.
    """
    action = "store" if builder else "append"
    default = f"default {builder}" if builder else "repeat for several; default all that are compatible with the pair"
    parser.add_argument(
        "--builder",
        default=builder,
        metavar="NAME",
        action=action,
        help=f"tree builder: {', '.join(BUILDERS)} ({default})",
    )
    if verifier:
        add_rule(parser, "the first one compatible with builder and temperature", action)
    if drafter:
        add_name_of_drafter(parser)
    rules, drafters = VERIFIERS.values() if verifier else (), DRAFTERS.values() if drafter else ()
    add_parameters(parser, [*BUILDERS.values(), *rules, *drafters], "builders, rules and drafters")


def add_drafter(parser: argparse.ArgumentParser) -> None:
    """--drafter, and an option for each parameter of a drafter."""
    add_name_of_drafter(parser)
    add_parameters(parser, [*DRAFTERS.values()], "drafters")


def add_name_of_drafter(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--drafter", default="model", metavar="NAME",
        help=f"drafter: {', '.join(DRAFTERS)} (default model)",
    )  # fmt: skip


def add_parameters(
    parser: argparse.ArgumentParser, classes: Sequence[type[TreeBuilder | Verifier | Drafter]], whose: str
) -> None:
    """An option for each parameter of builders, rules or drafters."""
    owners: dict[str, dict[str, tuple[list[str], Any]]] = {}
    for cls in classes:
        for field in fields(cls):
            means = field.metadata["help"].rstrip(".")
            owners.setdefault(field.name, {}).setdefault(means, ([], field))[0].append(f"{cls.name} {_default(field)}")
    group = parser.add_argument_group(f"parameters of {whose}, with the default of each")
    for name, meanings in owners.items():
        help = "; ".join(
            f"{means[:1].lower()}{means[1:]}{_range(field)} (default: {', '.join(defaults)})"
            for means, (defaults, field) in meanings.items()
        )
        group.add_argument(f"--{name.replace('_', '-')}", dest=f"parameter_{name}", metavar="X", help=help)


def _default(field: Any) -> str:
    value = field.default
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def _range(field: Any) -> str:
    meta = field.metadata
    each = ", one number per level" if meta["kind"] == "widths" else ""
    return f"{each}, {meta['low']:g} to {meta['high']:g}" if "low" in meta else ""


def add_rule(parser: argparse.ArgumentParser, default: str, action: str = "store") -> None:
    """--verifier; `default` says which rule is taken where none is named."""
    several = "repeat for several; " if action == "append" else ""
    parser.add_argument(
        "--verifier", metavar="NAME", action=action,
        help=f"verification rule: {', '.join(VERIFIERS)} ({several}default: {default})",
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
        "--max-new-tokens",
        type=int,
        default=128,
        metavar="M",
        help="maximum number of new tokens, from 1 (default 128)",
    )


def add_pair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="ID", help="folder or hub name of the target (default: the embedded pair)")
    parser.add_argument(
        "--draft", metavar="ID", help="folder or hub name of the draft, or early-exit:N for the target's first N "
        "layers (default: the embedded draft, or none with --target)",
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


def loading(args: argparse.Namespace) -> dict[str, Any]:
    """What `add_pair` says on how the pair is to be loaded."""
    return {name: getattr(args, name) for name in ("device", "dtype", "offload", "offload_folder")}


def strategy(args: argparse.Namespace, kind: str, name: str) -> Any:
    """The builder, rule or drafter called `name` with the parameters given on the command line.

    Raises:
        ValueError: if the name is unknown or a value does not fit; parameters it does not have are left to the other.
    """
    if name not in REGISTRIES[kind]:
        raise UnknownName(f"--{kind}", name, REGISTRIES[kind])
    known = {field.name: field for field in fields(REGISTRIES[kind][name])}
    given = {key.removeprefix("parameter_"): value for key, value in vars(args).items() if key.startswith("parameter_")}
    parameters = {
        key: value_of(key, text, known[key]) for key, text in given.items() if text is not None and key in known
    }
    return build(kind, Choice(name, parameters))


def value_of(name: str, text: str, field: Any) -> Any:
    """The value of one parameter from its text on the command line, where a vector may stand in a file."""
    option = f"--{name.replace('_', '-')}"
    value = read_value(option, text, field.metadata)
    if name != "acceptance" or value in ("auto", "measured"):
        return value
    return read_acceptance(text) if isinstance(value, str) else check_acceptance(value, option)


def file_of_another(
    args: argparse.Namespace, pair: Any, drafter: Drafter, verifier: str | None, temperature: float | None
) -> str:
    """A sentence where --acceptance names a file that was measured in another setting; else ""."""
    text = args.parameter_acceptance
    value = None if text is None else read_value("--acceptance", text, {"kind": "free"})
    if not isinstance(value, str) or value in ("auto", "measured"):
        return ""
    here = {"pair": pair.info["name"], "dtype": pair.info.get("dtype"), "version": __version__}
    asked = {"drafter": drafter.name, "parameters": asdict(drafter), "verifier": verifier, "temperature": temperature}
    sentence = elsewhere(text, here | asked)
    return sentence and f"{sentence}; a tree planned with it may not be optimal"


def refuse_unused(args: argparse.Namespace, *parts: Any) -> None:
    """Raise for a parameter that nothing chosen has, or whose builder or rule was not named."""
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
            raise ValueError(f"{names} has no parameter {option}. Parameters: {has}.")


def _has(name: str, *classes: type) -> bool:
    return any(field.name == name for cls in classes for field in fields(cls))


def config_from(args: argparse.Namespace) -> RunConfig:
    """The run that the options describe; without --verifier the rule that suits builder, drafter and temperature."""
    builder = strategy(args, "builder", args.builder)
    drafter = strategy(args, "drafter", args.drafter)
    config = RunConfig(
        args.prompt, builder, temperature=args.temperature, top_p=args.top_p, top_k=args.top_k,
        draft_temperature=args.draft_temperature, max_new_tokens=args.max_new_tokens, seed=args.seed, drafter=drafter,
    )  # fmt: skip
    verifier = strategy(args, "verifier", args.verifier or suited(config))
    refuse_unused(args, builder, verifier, drafter)
    return replace(config, verifier=verifier)


def read_trace(path: str) -> Trace:
    """The trace in a file; a missing or damaged one is a sentence."""
    return Trace.from_json(read_text(path, "trace", MOST_TRACE))
