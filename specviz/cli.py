"""The command line: `python -m specviz generate | tree | check | ...`.

Parameters of builders and rules become options by themselves, from their dataclass fields. A bad value gets one
sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, NoReturn

from . import _version
from .acceptance import expected_tokens, find_acceptance, read_acceptance
from .builders import BUILDERS
from .builders.filling import StaticBuilder
from .config import Choice, RunConfig
from .registry import build
from .verifiers import VERIFIERS


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one sentence."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 if it went well, 2 if a value was bad, 130 if it was interrupted."""
    parser = _parser()
    args = parser.parse_args(arguments)
    try:
        return args.run(args) or 0
    except ValueError as error:
        print(f"specviz {args.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped", file=sys.stderr)
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # nobody reads on: end quietly
        return 0


def _parser() -> Parser:
    parser = Parser(prog="specviz", description="See tree speculative decoding as it happens.")
    parser.add_argument("--version", action="version", version=_version.__version__)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=Parser)

    def command(name: str, run: Callable, help: str, example: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(
            name, help=help, description=help, epilog=f"example:\n  python -m specviz {name} {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        sub.set_defaults(run=run)
        return sub

    sub = command(
        "generate", generate, "Write a text, coloured by where each token came from.",
        '--prompt "Once upon a time" --builder sequoia --size 16 --temperature 0.8',
    )  # fmt: skip
    sub.add_argument("--prompt", required=True, metavar="TEXT", help="the text to continue")
    _add_strategy(sub)
    _add_sampling(sub)
    _add_pair(sub)
    output = sub.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the trace instead of the text")
    output.add_argument("--trace", metavar="FILE", help="write the trace to a file as well")

    sub = command(
        "tree", tree, "Print the shape a builder would draft, with no model.",
        "--builder sequoia --acceptance vector.json --size 128 --depth 10 --json",
    )  # fmt: skip
    _add_strategy(sub, verifier=False)
    sub.add_argument("--json", action="store_true", help="print parents and expected tokens as JSON")

    sub = command(
        "check", check, "Prove by enumeration which builder and rule are lossless together.",
        "--builder sequoia --verifier specinfer --json",
    )  # fmt: skip
    sub.add_argument("--builder", choices=BUILDERS, help="only this builder")
    sub.add_argument("--verifier", choices=VERIFIERS, help="only this rule")
    sub.add_argument("--json", action="store_true", help="print the rows as JSON")
    return parser


def _add_strategy(parser: argparse.ArgumentParser, verifier: bool = True) -> None:
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


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--temperature", type=float, default=0.8, metavar="T", help="the target's (default 0.8)")
    parser.add_argument("--draft-temperature", type=float, metavar="T", help="the draft's (default: the target's)")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P", help="keep the most probable mass P")
    parser.add_argument("--top-k", type=int, metavar="K", help="keep the K most probable tokens")
    parser.add_argument("--seed", type=int, default=0, metavar="S", help="the same seed gives the same text")
    parser.add_argument("--max-new-tokens", type=int, default=128, metavar="M", help="how many tokens to write at most")


def _add_pair(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--target", metavar="ID", help="folder or hub name of the target (default: the embedded pair)")
    parser.add_argument("--draft", metavar="ID", help="folder or hub name of the draft, or early-exit:N")
    parser.add_argument("--device", default="auto", help="auto, cpu, cuda or mps")
    parser.add_argument("--dtype", default="auto", help="auto, float32, bfloat16 or float16")


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
        key: _value(key, text, known[key]) for key, text in given.items() if text is not None and key in known
    }
    return build(kind, Choice(name, parameters))


def _value(name: str, text: str, field: Any) -> Any:
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
            return read_acceptance(text) if not _is_numbers(text) else tuple(float(part) for part in text.split(","))
        return int(text) if kind == "whole" else float(text)
    except (KeyError, TypeError):
        raise ValueError(f"{option} must be true or false; got {text!r}.") from None
    except ValueError as error:
        if kind == "free":
            raise
        nouns = {"whole": "a whole number", "real": "a number", "widths": "whole numbers like 3,2,1"}
        raise ValueError(f"{option} must be {nouns[kind]}; got {text!r}.") from error


def _is_numbers(text: str) -> bool:
    return all(part.replace(".", "", 1).isdigit() for part in text.split(","))


def refuse_unused(args: argparse.Namespace, *parts: Any) -> None:
    """Raise for a parameter that neither the builder nor the rule has."""
    known = {field.name for part in parts for field in fields(part)}
    for key, value in vars(args).items():
        name = key.removeprefix("parameter_")
        if key.startswith("parameter_") and value is not None and name not in known:
            names = " and ".join(part.name for part in parts)
            has = ", ".join(f"--{n.replace('_', '-')}" for n in sorted(known)) or "no parameters"
            raise ValueError(f"{names} has no parameter --{name.replace('_', '-')}; there is {has}.")


def config_from(args: argparse.Namespace) -> RunConfig:
    """The run that the options describe; without --verifier the rule that suits builder and temperature."""
    from .protocols import suited

    builder = strategy(args, "builder", args.builder)
    name = args.verifier or suited(builder, VERIFIERS, args.temperature)
    verifier = strategy(args, "verifier", name)
    refuse_unused(args, builder, verifier)
    return RunConfig(
        args.prompt, builder, verifier, args.temperature, args.top_p, args.top_k, args.draft_temperature,
        args.max_new_tokens, args.seed,
    )  # fmt: skip


def generate(args: argparse.Namespace) -> None:
    """Write a text, coloured by where each token came from."""
    config = config_from(args)  # before the models: a typing mistake should not wait for them
    from .decode import collect, speculate
    from .models.pair import load_pair

    pair = load_pair(args.target, args.draft, device=args.device, dtype=args.dtype)
    steps, coloured = [], sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    try:
        if not args.json:
            print(args.prompt, end="", flush=True)
        for step in speculate(pair, config):
            steps.append(step)
            if not args.json:
                print(paint(step) if coloured else "".join(step.pieces), end="", flush=True)
    except KeyboardInterrupt:
        pass  # what was written is kept
    trace = collect(pair, config, iter(steps))
    if args.json:
        print(trace.to_json())
        return
    if args.trace:
        _write(args.trace, trace.to_json())
    print(f"\n\n{summary(trace)}")


def paint(step: Any) -> str:
    """The text of a step with terminal colours: accepted green, corrected orange, bonus blue."""
    last = len(step.pieces) - 1
    colours = [("33" if step.corrected else "34") if i == last and step.bonus is not None else "32"
               for i in range(last + 1)]  # fmt: skip
    safe = ("".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in piece) for piece in step.pieces)
    return "".join(f"\x1b[{colour}m{piece}\x1b[0m" for colour, piece in zip(colours, safe, strict=True))


def summary(trace: Any) -> str:
    """Tokens per target pass, acceptance and tokens per second in one line."""
    acceptance = "no node was compared" if trace.acceptance is None else f"{trace.acceptance:.0%} of compared accepted"
    rate = len(trace.tokens) / trace.seconds if trace.seconds else 0.0
    return (
        f"{len(trace.tokens)} tokens in {len(trace.steps)} target passes: {trace.tokens_per_pass:.2f} per pass, "
        f"{acceptance}, {rate:.0f} tokens/s; ended by {trace.stop}"
    )


def tree(args: argparse.Namespace) -> None:
    """Print the shape a builder would draft, with no model."""
    given = args.parameter_acceptance
    acceptance = find_acceptance("sequoia", 1.0) if given in (None, "auto", "measured") else None
    builder = strategy(args, "builder", args.builder)
    if not isinstance(builder, StaticBuilder):
        raise ValueError(f"{builder.name} needs a model: its tree depends on the text. Try 'generate' instead.")
    if acceptance is None:
        free = next(field for field in fields(BUILDERS["sequoia"]) if field.name == "acceptance")
        acceptance = _value("acceptance", given, free)
    if "acceptance" in {field.name for field in fields(builder)}:
        builder = replace(builder, acceptance=acceptance)
    else:
        args.parameter_acceptance = None
    refuse_unused(args, builder)
    result = {"parents": list(builder.shape.parents), "expected_tokens": expected_tokens(builder.shape, acceptance)}
    if args.json:
        print(json.dumps(result))
        return
    shape = builder.shape
    print(f"{len(shape)} nodes, {shape.depth.max()} levels, {result['expected_tokens']:.3f} tokens per pass")
    for node in shape.depth_first:
        print("  " * int(shape.depth[node]) + f"{node}")


def check(args: argparse.Namespace) -> int:
    """Prove by enumeration which builder and rule are lossless together; exit code 1 if a declaration is wrong."""
    from .check import table

    rows, right = [], True
    for row in table(
        builders=[args.builder] if args.builder else None, verifiers=[args.verifier] if args.verifier else None
    ):
        rows.append(asdict(row) | {"holds": row.holds})
        right &= row.holds
        if not args.json:
            found = "equal texts" if row.error is None else f"{row.error:8.1e}"
            claim = "lossless" if row.lossless else "lossy"
            mark = "" if row.holds else "   DECLARED WRONGLY"
            print(f"{row.builder:18} {row.verifier:22} {row.law:9} {claim:9} {found}{mark}", flush=True)
    if args.json:
        print(json.dumps(rows, indent=1))
    return 0 if right else 1


def _write(path: str, text: str) -> None:
    try:
        Path(path).write_text(text, encoding="utf-8")
    except OSError as error:
        raise ValueError(f"{path!r} cannot be written: {error.strerror}.") from None
