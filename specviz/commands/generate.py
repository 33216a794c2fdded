"""`generate`: write a text, coloured by where each token came from."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from math import isnan
from typing import Any

from ..acceptance.vectors import mismatch, planned_with
from ..compatibility import compatible, suited
from ..config import RunConfig
from ..files import MOST_TRACE, __version__, check_output, printable, write_text
from ..record import Step
from ..trace import Trace
from .options import add_pair, add_rows, add_strategy, add_temperature, load, sampling, strategy, vector_files

EXAMPLE = '--prompt "Once upon a time" --builder sequoia:size=16,depth=6 --temperature 0.8'


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--prompt", required=True, metavar="TEXT", help="the text to continue")
    add_strategy(parser, "builder", "sequoia")
    add_strategy(parser, "verifier", "the first one that suits builder and temperature")
    add_strategy(parser, "drafter", "model")
    add_temperature(parser)
    add_rows(parser)
    parser.add_argument("--max-new-tokens", type=int, default=128, metavar="M", help="tokens to write, from 1")
    add_pair(parser)
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the trace instead of the text")
    output.add_argument("--trace", metavar="FILE", help="write the trace to a file as well")


def run(args: argparse.Namespace) -> None:
    builder, drafter = (strategy(args, kind, getattr(args, kind)) for kind in ("builder", "drafter"))
    config = RunConfig(
        args.prompt, builder, temperature=args.temperature, max_new_tokens=args.max_new_tokens, drafter=drafter,
        **sampling(args),
    )  # fmt: skip
    config = replace(config, verifier=strategy(args, "verifier", args.verifier or suited(config)))
    match = compatible(config).required()
    if args.trace:
        check_output(args.trace, *vector_files(args))
    from ..decode import collect, speculate

    pair = load(args)
    if notice := planned_with(config.builder, config.drafter, pair.info["name"]) or vector_notice(args, pair, config):
        print(printable(notice), file=sys.stderr)
    if not match.lossless:
        print(f"lossy: {match.reason}", file=sys.stderr)
    steps: list[Step] = []
    coloured = sys.stdout.isatty() or "FORCE_COLOR" in os.environ
    try:
        for step in speculate(pair, config):
            if not args.json and not steps:
                print(printable(args.prompt), end="")
            steps.append(step)
            if not args.json:
                print(paint(step) if coloured else printable("".join(step.pieces)), end="", flush=True)
    except KeyboardInterrupt:
        pass  # what was written is kept
    trace = collect(pair, config, iter(steps))
    if args.json:
        print(trace.to_json())
        return
    if args.trace:
        text = trace.to_json()
        write_text(args.trace, text)
        if len(text.encode()) > MOST_TRACE:
            print(f"this trace has more than {MOST_TRACE:,} bytes, which replay and the page reject", file=sys.stderr)
    print(f"\n\n{summary(trace)}{'' if match.lossless else ' (lossy)'}")


def vector_notice(args: argparse.Namespace, pair: Any, config: RunConfig) -> str:
    """A sentence where a builder's vector was measured in another setting; else ""."""
    drafter, verifier = config.drafter, config.verifier
    settings = {
        "pair": pair.info["name"], "dtype": pair.info.get("dtype"), "version": __version__, "drafter": drafter.name,
        "parameters": drafter.parameters, "verifier": verifier.name, "temperature": config.temperature,
    }  # fmt: skip
    sentence = next(filter(None, (mismatch(path, settings) for path in vector_files(args))), "")
    return sentence and f"{sentence}; a tree planned with it may not be optimal"


def paint(step: Step) -> str:
    """The text of a step with terminal colours: accepted green, corrected orange, bonus blue."""
    last = len(step.pieces) - 1
    colours = [("33" if step.corrected else "34") if i == last and step.bonus is not None else "32"
               for i in range(last + 1)]  # fmt: skip
    safe = map(printable, step.pieces)
    return "".join(f"\x1b[{colour}m{piece}\x1b[0m" for colour, piece in zip(colours, safe, strict=True))


def summary(trace: Trace) -> str:
    """Tokens per target pass, acceptance rate and tokens per second in one line."""
    if not trace.steps:
        return f"no step; ended by {printable(trace.stop)}"
    acceptance = (
        "no node was compared" if trace.acceptance is None else f"{trace.acceptance:.0%} of compared tokens accepted"
    )
    rate = "" if isnan(trace.tokens_per_s) else f", {trace.tokens_per_s:.0f} tokens/s"
    return (
        f"{len(trace.tokens)} tokens in {len(trace.steps)} target passes: {trace.tokens_per_pass:.2f} per pass, "
        f"{acceptance}{rate}; ended by {printable(trace.stop)}"
    )
